"""Data small enough to come along: excerpts of the genomes of six bacteria."""

from __future__ import annotations

from pathlib import Path


def genomes() -> list[Path]:
    """Paths of the excerpts, packed FASTA files named after the species.

    What they are and where they are from is in ``README.md`` beside them.

    Examples
    --------
    >>> from shortlist.demo import genomes
    >>> [path.name.removesuffix(".fa.gz") for path in genomes()][:2]
    ['bacillus_subtilis', 'escherichia_coli']
    """
    return sorted(Path(__file__).parent.glob("*.fa.gz"))
