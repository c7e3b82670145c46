import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import kmers as reference
from shortlist.kernels.fragments import draw_fragments
from shortlist.sources._kmers import Kmers, RowMaker

ALPHABETS = {"dna": reference.DNA, "iupac": reference.IUPAC}

stretches = st.lists(
    st.text("ACGT", max_size=40)
    | st.text("AC", max_size=40)
    | st.text(reference.IUPAC, max_size=40),
    max_size=5,
)


@given(stretches, st.sampled_from(["dna", "iupac"]), st.integers(1, 31), st.booleans())
@settings(max_examples=300)
def test_words_and_counts_are_those_of_the_reference(texts, alphabet, k, canonical):
    k = min(k, 15) if alphabet == "iupac" else k
    kmers = Kmers(alphabet, k, canonical)
    letters = kmers.table[np.frombuffer("".join(texts).encode(), np.uint8)]
    stops = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = stops - np.array([len(text) for text in texts], np.int64)
    indptr, ids, values = RowMaker(kmers).rows(letters, starts, stops)
    names = kmers.names(ids, "here")
    for i, text in enumerate(texts):
        row = slice(indptr[i], indptr[i + 1])
        expected = reference.count(text, k, ALPHABETS[alphabet], canonical)
        assert dict(zip(names[row], values[row], strict=True)) == expected
        assert names[row] == list(expected)
        packed = [reference.pack(word, ALPHABETS[alphabet]) for word in expected]
        assert ids[row].tolist() == packed
    assert kmers.ids(names, "here").tolist() == ids.tolist()


def draw(first_row, n, seed, length, sizes, firsts):
    drawn = np.empty((3, n), np.int64)
    ends = np.cumsum(np.array(sizes, np.int64))
    seed, first_row = np.uint64(seed), np.uint64(first_row)
    draw_fragments(first_row, seed, length, np.array(firsts), ends, drawn)
    return drawn


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=5),
    st.integers(1, 20),
    st.integers(0, 2**64 - 1),
)
def test_fragments_lie_within_records_and_depend_on_their_number_only(
    sizes, length, seed
):
    firsts = np.cumsum([3, *[size + 2 for size in sizes]])[:-1]  # gaps between records
    drawn = draw(0, 40, seed, length, sizes, firsts)
    record, start, stop = drawn
    assert (start >= firsts[record]).all()
    assert (stop <= firsts[record] + np.array(sizes)[record]).all()
    assert (stop - start == np.minimum(length, np.array(sizes)[record])).all()
    again = draw(13, 27, seed, length, sizes, firsts)
    np.testing.assert_array_equal(again, drawn[:, 13:])


def test_every_fragment_of_a_record_is_as_likely_and_records_go_by_length():
    record, start, _ = draw(0, 60_000, 5, 10, [19, 60, 21], [0, 100, 200])
    share = np.bincount(record, minlength=3) / len(record)
    np.testing.assert_allclose(share, [0.19, 0.6, 0.21], atol=0.008)
    counts = np.bincount(start[record == 0])
    assert len(counts) == 10  # starts 0 to 9: all there are
    assert abs(counts / counts.mean() - 1).max() < 0.12


@pytest.mark.parametrize(("alphabet", "longest"), [("dna", 31), ("iupac", 15)])
def test_the_longest_words_still_fit(alphabet, longest):
    last = ALPHABETS[alphabet][-1] * longest
    kmers = Kmers(alphabet, longest, False)
    assert kmers.ids([last], "here").tolist() == [kmers.n_features - 1]
    assert kmers.names(np.array([kmers.n_features - 1], np.uint64), "here") == [last]
