"""FASTA and FASTQ files as a source of rows: k-mers of records, or of fragments of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from shortlist._protocols import DataError, Ids, Ints, RowBlock, ShortlistError
from shortlist.sources._files import Paths, find_files
from shortlist.sources._fragments import Fragments, hold
from shortlist.sources._kmers import Kmers
from shortlist.sources._labels import check_choice
from shortlist.sources._reads import Reads
from shortlist.sources._record_labels import LabelBy, RecordLabels

WHOLE = (0.0, 1.0)


class FastaSource:
    r"""Rows of k-mers: the words of k letters in a piece of DNA, and how often each comes.

    A row is a fragment drawn at random from the sequences, as a sequencer would give
    it; or, with ``fragment=None``, a record as it stands in the file, such as a read.
    FASTA begins with ">", FASTQ with "@" and has four lines a read, the qualities of
    which are ignored. Small letters count as capitals, U as T.

    The id of a k-mer is the k-mer itself, its letters as the digits of a number; so its
    name is known without being kept.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, plain or ``.gz``, ``.bz2``, ``.zst``; patterns such as ``*.fna.gz``; "-"
        is standard input.
    k : int, default=12
        Letters of a word: up to 31 for "dna", 15 for "iupac".
    canonical : bool, default=False
        Whether a word and its reverse complement are one, named by the first of the two
        in the order of letters. Which strand a read is from is mostly not known.
    alphabet : {"dna", "iupac"}, default="dna"
        dna: A, C, G and T; words with other letters (N and such) are left out. iupac:
        the 16 letters of ambiguous DNA, the gap among them, as letters of their own.
    fragment : int or None, default=200
        Letters of a fragment; a shorter record is taken whole. None: a record is a row.
    coverage : float, default=1.0
        So many fragments are drawn that a letter is in this many on average.
    region : pair of float, default=(0.0, 1.0)
        Part of every record that fragments are from; see ``part``.
    label : {"file", "record"}, mapping, path or None, default="file"
        file: the name of the file, without folder and endings. record: the first word
        of the record's header, which several should share where records are rows, and
        which a pipe cannot tell in advance. Else a mapping from the name of a
        record, or of a file with or without endings, to its label, or the path of a text
        file with lines of name, tab, label; labels that are all numbers stay numbers.
        None: no labels.
    on_error : {"raise", "skip"}, default="raise"
        A bad record, or one that the map has no label for, raises, or is left out and
        counted in ``skipped``.
    memory : int, default=1000000000
        Letters that may be held in memory to draw fragments from, a byte each.
    block_bytes : int, default=262144
        Letters, or bytes of text, in a block. The rows do not depend on it.
    seed : int, default=0
        Of the lot.

    Attributes
    ----------
    skipped : int
        Bad records left out; without fragments, by the last call of ``blocks``.
    label_names : list of str or None
        What codes in ``y`` stand for.

    Notes
    -----
    Fragments are drawn with replacement, a record with a chance in proportion to its
    length, so that classes come mixed. Fragment i depends on the seed and on i only: each
    pass sees the same rows. The sequences are read once and held in memory.

    With ``fragment=None`` nothing is held and files may be of any size, but a record may
    have a million letters at most. Rows come in the order of the files: if a file is a
    class, learn from files that are mixed, or from fragments.

    Words that come several times in a row are counted, as logarithms and lengths of rows
    (``log1p``, ``normalize``) are about counts. Compared with what learning from a word
    costs, this is cheap.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.fa"
    >>> _ = path.write_text(">a\nACGTA\nCGT\n>b\nggNgc\n")
    >>> source = FastaSource(path, k=2, fragment=None)
    >>> block = next(source.blocks())
    >>> block.indptr, block.values
    (array([0, 4, 6]), array([2., 2., 2., 1., 1., 1.]))
    >>> source.names(block.ids)
    ['AC', 'CG', 'GT', 'TA', 'GG', 'GC']
    """

    label_names: Sequence[str] | None
    features_are = "words of DNA"

    def __init__(
        self,
        paths: Paths,
        *,
        k: int = 12,
        canonical: bool = False,
        alphabet: str = "dna",
        fragment: int | None = 200,
        coverage: float = 1.0,
        region: tuple[float, float] = WHOLE,
        label: LabelBy = "file",
        on_error: str = "raise",
        memory: int = 1_000_000_000,
        block_bytes: int = 1 << 18,
        seed: int = 0,
    ):
        check_choice("on_error", on_error, ("raise", "skip"))
        if block_bytes < 1:
            raise ShortlistError(f"block_bytes: expected 1 or more, got {block_bytes}")
        self._kmers = Kmers(alphabet, k, canonical)
        self.k, self.canonical, self.alphabet = k, bool(canonical), alphabet
        files = find_files(paths)
        labels = RecordLabels(label, files)
        self.fragment, self.coverage, self.seed = fragment, coverage, seed
        self.region, self._in_stretches = region, False
        self.on_error = on_error
        self.block_bytes = block_bytes
        self.name = files[0].name + (f" and {len(files) - 1} more" if files[1:] else "")
        self.n_features: int | None = self._kmers.n_features
        self._rows: Reads | Fragments
        if fragment is None:
            self._check_for_records()
            reads = Reads(
                files,
                self._kmers,
                labels,
                on_error=on_error,
                block_bytes=block_bytes,
            )
            if labels.by_record:
                reads.collect_labels()
            self._rows = reads
        else:
            self._held = hold(
                files,
                self._kmers.table,
                labels,
                on_error=on_error,
                block_bytes=block_bytes,
                memory=memory,
            )
            self._rows = self._fragments()
        self.label_names = labels.label_names
        self._known_labels = None if labels.by_map else labels.label_names
        self.unit = self._rows.unit
        self.reiterable = self._rows.reiterable
        self.size: int | None = self._rows.size

    @property
    def known_labels(self) -> Sequence[str] | None:
        """All labels, if they are names of files or records."""
        return self._known_labels

    @property
    def skipped(self) -> int:
        """Bad records left out."""
        return self._rows.skipped

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows in order, in blocks of about ``block_bytes`` letters."""
        return self._rows.blocks()

    def names(self, ids: Ids) -> list[str]:
        """Letters of the k-mers."""
        return self._kmers.names(ids, self.name)

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids of k-mers; of either strand, if they are canonical."""
        return self._kmers.ids(names, self.name)

    def locate(self, row: int) -> str:
        """Where a row is from: file and line, or file, record and letters."""
        return self._rows.locate(row)

    def part(
        self,
        region: tuple[float, float],
        *,
        coverage: float | None = None,
        seed: int | None = None,
    ) -> FastaSource:
        r"""Draw fragments from another part of the records, which are not read again.

        Fragments to test on should share no letter with those learned from; fragments
        of two regions that do not overlap share none.

        Parameters
        ----------
        region : pair of float
            Part of every record, as in (0.9, 1.0) for the last tenth.
        coverage : float, default=None
        seed : int, default=None
            None: as they are.

        Returns
        -------
        FastaSource

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.fa"
        >>> _ = path.write_text(">a\n" + "ACGTTGCAGG" * 100)
        >>> train = FastaSource(path, k=3, fragment=20, region=(0.0, 0.9))
        >>> test = train.part((0.9, 1.0))
        >>> train.size, test.size
        (45, 5)
        """
        if self.fragment is None:
            raise ShortlistError(
                "part: expected a source of fragments, got one of records"
            )
        other = copy.copy(self)
        other.region = region
        other.coverage = self.coverage if coverage is None else coverage
        other.seed = self.seed if seed is None else seed
        other._rows = other._fragments()
        other.size = other._rows.size
        return other

    def apart(self) -> tuple[FastaSource, Ints] | None:
        """Draw fragments from stretches of the records that share no letter.

        Fragments drawn from whole records overlap: rows to judge by would be known in part
        from those learned from. So a record is cut into up to 20 stretches, of two
        fragments at least, and no fragment is in two of them.

        Returns
        -------
        source : FastaSource
            As many fragments, with the same seed.
        groups : ndarray of int
            The stretch of each.

        Notes
        -----
        None where records are rows.
        """
        if self.fragment is None:
            return None
        other = copy.copy(self)
        other._in_stretches = True
        other._rows = rows = other._fragments()
        return other, rows.places()

    def _check_for_records(self) -> None:
        """Refuse what makes sense for fragments only."""
        if tuple(self.region) != WHOLE or self.coverage != 1.0:
            raise ShortlistError(
                "region and coverage: expected none where records are rows, "
                f"got {self.region} and {self.coverage}"
            )

    def _fragments(self) -> Fragments:
        """Rows drawn from what is held, as the settings are now."""
        assert self.fragment is not None
        rows = Fragments(
            self._held,
            self._kmers,
            length=self.fragment,
            coverage=self.coverage,
            region=self.region,
            seed=self.seed,
            block_letters=self.block_bytes,
            in_stretches=self._in_stretches,
        )
        if rows.size == 0:
            raise DataError(
                f"{self.name}: expected records with {self._kmers.k} letters or more in "
                "the region, got none"
            )
        return rows
