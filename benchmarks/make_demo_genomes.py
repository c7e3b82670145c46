"""Cut the excerpts of genomes that come with the package.

    python -m benchmarks.make_demo_genomes

Writes the same letters each time, and a table of what they are, to ``src/shortlist/demo``.
The species are common ones; two of them, Haemophilus and Neisseria, take up DNA of their
own kind only, which they know by a short word that their genomes repeat a thousand times.
"""

import gzip
import textwrap
from pathlib import Path

from benchmarks.data import genome

FIRST, LAST = 1_000_001, 1_200_000  # bases of the chromosome, counted from 1
HOME = Path(__file__).resolve().parents[1] / "src" / "shortlist" / "demo"

GENOMES = (
    "bacillus_subtilis_RI4914",
    "escherichia_coli_K12_MG1655",
    "haemophilus_influenzae_NCTC13377",
    "helicobacter_pylori_G27",
    "neisseria_gonorrhoeae_NCTC13799",
    "staphylococcus_aureus_N315",
)

HEAD = f"""# Excerpts of genomes

Bases {FIRST:,} to {LAST:,} of the chromosomes of six bacteria, from sequences of the NCBI,
which are free to use. Written by `python -m benchmarks.make_demo_genomes`.

| file | accession | what the record is |
|---|---|---|
"""


def first_record(path):
    """Accession, description and letters of the first record, the chromosome."""
    with gzip.open(path, "rt") as file:
        header, _, rest = file.read().removeprefix(">").partition("\n")
    name, _, about = header.partition(" ")
    # older files: gi|number|database|accession|
    accession = name.strip("|").split("|")[-1]
    return accession, about, rest.partition(">")[0].replace("\n", "")


def main():
    """Write the files and the table."""
    table = HEAD
    for name in GENOMES:
        accession, about, letters = first_record(genome(name))
        species = "_".join(name.split("_")[:2])
        excerpt = textwrap.fill(letters[FIRST - 1 : LAST], 80)
        text = f">{accession}:{FIRST}-{LAST} {about}\n{excerpt}\n"
        path = HOME / f"{species}.fa.gz"
        # without a time in it, so that the same letters make the same file
        path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        table += f"| `{path.name}` | {accession} | {about} |\n"
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    (HOME / "README.md").write_text(table)


if __name__ == "__main__":
    main()
