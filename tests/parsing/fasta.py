"""FASTA and FASTQ to draw, and how they should be read."""

from hypothesis import strategies as st

from reference import kmers as reference
from shortlist._protocols import DataError
from shortlist.sources.fasta import FastaSource


def rows_of(source):
    """Counts of every row, labels and the error that ended reading."""
    rows, labels = [], []
    try:
        for block in source.blocks():
            assert block.first_row == len(rows)
            assert block.n_rows > 0
            assert block.indptr[0] == 0
            assert all(array.flags.owndata for array in block[:5])
            names = source.names(block.ids)
            for i in range(block.n_rows):
                row = slice(block.indptr[i], block.indptr[i + 1])
                rows.append(dict(zip(names[row], block.values[row], strict=True)))
            labels += block.y.tolist()
    except DataError as error:
        return rows, labels, str(error)
    return rows, labels, None


def check_like_reference(path, text, k, block_bytes):
    """Read a text as it should be read, words of k letters."""
    path.write_bytes(text.encode())
    for on_error in ("raise", "skip"):
        options = {"k": k, "on_error": on_error, "block_bytes": block_bytes}
        source = FastaSource(path, fragment=None, **options)
        rows, labels, error = rows_of(source)
        expected = reference.parse(text, on_error)
        assert rows == [reference.count(r.letters, k) for r in expected.records]
        assert labels == [0.0] * len(rows)
        assert source.skipped == expected.skipped
        if expected.error is None:
            assert error is None
        else:
            line, what = expected.error
            assert error.startswith(f"{path}:{line}: expected {what}")
            assert ", got " in error
        if error is None:
            places = [source.locate(row) for row in range(len(rows))]
            assert places == [f"{path}:{r.line}" for r in expected.records]


ends = st.sampled_from(["\n", "\r\n", "\n\n", " \n"])
letters = (
    st.text("ACGT", max_size=12)
    | st.text("acgtNnRU-", max_size=12)
    | st.sampled_from(["", "AC GT", "ACXGT", "AC>GT", "*", "AéC", "@", "+"])
)
headers = st.sampled_from(["a", "b some words", "", " c", "x\ty", "é"])


@st.composite
def fasta_record(draw):
    lines = [draw(letters) + draw(ends) for _ in range(draw(st.integers(0, 3)))]
    return "".join([">", draw(headers), draw(ends), *lines])


@st.composite
def fastq_record(draw):
    bases = draw(letters)
    n = len(bases.replace(" ", ""))
    quality = draw(st.text("@+!I", min_size=n, max_size=n))
    lines = ["@" + draw(headers), bases, draw(st.sampled_from(["+", "+a"])), quality]
    broken = draw(st.integers(0, 12))
    if broken < 4:
        del lines[broken]
    elif broken == 4:
        lines[3] += "I"
    end = draw(st.sampled_from(["\n", "\r\n"]))
    parts = [line + end for line in lines]
    return "".join([*parts, draw(st.sampled_from(["", "", "", "\n"]))])


@st.composite
def fasta_text(draw):
    begin = draw(st.sampled_from(["", "\n", " \r\n", "\n\n"]))
    return begin + "".join(draw(st.lists(fasta_record(), max_size=4)))


@st.composite
def fastq_text(draw):
    return "".join(draw(st.lists(fastq_record(), max_size=4)))


def records():
    """Records of either kind, of which the first decides what is good."""
    return fasta_record() | fastq_record()


def check_text(path, text, block_bytes):
    """Read bytes, however they came about, as they should be read."""
    check_like_reference(path, text.decode(), 2, block_bytes)
