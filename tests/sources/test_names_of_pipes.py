"""Names of a pipe's features: known while they may be needed, forgotten afterwards."""

import io
import json
import sys
import threading
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import _units
from shortlist.engines import run
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sketch._iht import batch_iht
from shortlist.sketch._mission import mission
from shortlist.sources import (
    CsvSource,
    JsonlSource,
    LabelledSource,
    VwSource,
    _cell_names,
    _name_stores,
    split_holdout,
)
from shortlist.sources._distinct_names import collision_probability
from shortlist.sources._unlearned import Unlearned


def as_vw(rows, y):
    lines = (
        f"{label} |a {' '.join(row)}\n" for row, label in zip(rows, y, strict=True)
    )
    return "".join(lines)


def as_jsonl(rows, y):
    lines = (
        json.dumps({"a": row, "y": label}) + "\n"
        for row, label in zip(rows, y, strict=True)
    )
    return "".join(lines)


def as_csv(rows, y):
    width = max(map(len, rows))
    names = ",".join(f"c{i}" for i in range(width))
    cells = (",".join([*row, *[""] * (width - len(row))]) for row in rows)
    lines = (f"{label},{text}\n" for text, label in zip(cells, y, strict=True))
    return f"y,{names}\n" + "".join(lines)


#: How to write rows of words, how to read them, and what a word is called.
FORMATS = {
    "vw": (as_vw, VwSource, {}, lambda word, place: f"a^{word}"),
    "jsonl": (as_jsonl, JsonlSource, {"target": "y"}, lambda word, place: f"a={word}"),
    "csv": (as_csv, CsvSource, {"target": "y"}, lambda word, place: f"c{place}={word}"),
}


@pytest.fixture
def small_stores(monkeypatch):
    """Names become many when there are a few hundred, and room begins with a few."""
    monkeypatch.setattr(_name_stores, "MANY_NAMES", 300)
    monkeypatch.setattr(_name_stores, "_FEW_NAMES", 7)
    monkeypatch.setattr(_name_stores, "_FEW_CHARACTERS", 20)
    monkeypatch.setattr(_cell_names, "MANY_NAMES", 300)
    monkeypatch.setattr(_units, "HEAD_NONZEROS", 5000)  # of the head all are known


def piped(text):
    """Patch under which a source reads the text from standard input."""
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    return patch


def stream(n):
    """Rows of three telling words and four that never come again."""
    rng = np.random.default_rng(0)
    tells = rng.integers(0, 8, (n, 3))
    y = np.where((tells[:, 0] < 4) ^ (rng.random(n) < 0.1), 1, -1).tolist()
    rows = [
        [f"tell{place}_{word}" for place, word in enumerate(row)]
        + [f"w{4 * i + j}" for j in range(4)]
        for i, row in enumerate(tells.tolist())
    ]
    return rows, y


def names_held(source):
    met = source._met
    return len(met.found) if isinstance(source, CsvSource) else int(met.store.counts[0])


@pytest.mark.parametrize("method", ["newton", "paper", "batch_iht"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_chosen_feature_of_a_long_pipe_has_its_name(
    small_stores, tmp_path, form, method
):
    write, source_class, options, _ = FORMATS[form]
    text = write(*stream(15_000))
    patch = piped(text)
    source = source_class("-", **options, block_bytes=3000)
    train, _ = split_holdout(source, 0.2, 0)
    most = 0

    def watch(progress):
        nonlocal most
        most = max(most, names_held(source))

    asked = {"loss": "logistic", "classes": [-1, 1], "reiterable": False}
    if method == "batch_iht":
        learner = batch_iht(150, **asked, batch=777)
    else:
        learner = mission(150, **asked, recipe=method)
    chosen = run(learner, train, watch)
    patch.undo()
    path = tmp_path / "rows"
    path.write_text(text)
    file = source_class(path, **options)
    assert list(chosen.names) == file.names(chosen.ids)
    assert not any(name.startswith("#") for name in chosen.names)
    n_late = sum(name.rpartition("w")[2].isdecimal() for name in chosen.names)
    assert n_late > 50  # not only names that come again and again
    # twice the names of the head, which is 1250 rows long, and of blocks on their way
    assert most < 13_000 < 0.25 * source.n_names
    assert source.n_names == pytest.approx(60_024, rel=0.06)
    expected = collision_probability(source.n_names)
    assert chosen.params["name_collision_probability"] == expected


words = st.sampled_from([f"n{i}" for i in range(12)])


@pytest.mark.parametrize("form", FORMATS)
@given(
    st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 3), st.sets(words, max_size=3)), max_size=6),
)
def test_names_are_kept_as_long_as_they_may_be_needed(form, rows, steps):
    write, source_class, options, name_of = FORMATS[form]
    patch = piped(write(rows, [1] * len(rows)))
    source = source_class("-", **options, block_bytes=1)
    blocks, parsed = source.blocks(), []
    # what a row's words are called, and their ids
    names = [[name_of(word, i) for i, word in enumerate(row)] for row in rows]
    kept: set[str] = set()
    n_rows = n_learned = 0
    for ahead, candidates in steps:
        parsed += islice(blocks, 1 + ahead)
        met = sum(block.n_rows for block in parsed)
        kept.update(name for row in names[n_rows:met] for name in row)
        n_rows = met
        # all blocks have been learned from but those ahead
        n_learned = max(n_learned, len(parsed) - ahead)
        if n_learned:
            candidates = {name_of(word, 0) for word in candidates}
            ids = hash_bytes([name.encode() for name in sorted(candidates)])
            source.retain(ids, parsed[n_learned - 1].position)
            before = sum(block.n_rows for block in parsed[: n_learned - 1])
            recent = {name for row in names[before:n_rows] for name in row}
            kept = (kept & candidates) | recent
            assert known(source, names) == kept
    patch.undo()


def known(source, names):
    """Names among these that the source has."""
    distinct = sorted({name for row in names for name in row})
    ids = hash_bytes([name.encode() for name in distinct])
    held = source._met.found
    if not isinstance(source, CsvSource):
        return set(held(ids).values())
    return {name for name in distinct if name in set(held)}


def test_a_block_parsed_ahead_keeps_names_it_shares_with_an_old_one():
    patch = piped("1 | old both\n1 | mid\n1 | both\n")
    source = VwSource("-", block_bytes=10)
    first, second, third = source.blocks()
    nothing = np.empty(0, np.uint64)
    ids = hash_bytes([b"old", b"both", b"mid"])
    source.retain(nothing, first.position)
    assert source.names(ids) == ["old", "both", "mid"]
    source._known.clear()
    source.retain(nothing, second.position)
    assert source.names(ids)[0].startswith("#")
    assert source.names(ids)[1:] == ["both", "mid"]
    source._known.clear()
    source.retain(nothing, third.position)
    assert source.names(ids)[1] == "both"  # it may end where the next one does
    patch.undo()


def test_the_id_that_marks_free_slots_is_an_id_like_others():
    store = _name_stores.open_store(4, 40)
    text = np.frombuffer(b"lastone", np.uint8)
    ids = np.array([2**64 - 1, 5], np.uint64)
    places = np.array([[0, 0, 0, 4], [0, 0, 4, 7]])
    assert _name_stores.keep_names(text, ids, places, store) == 2
    store = _name_stores.wider_store(store, 40, 400)
    assert list(_name_stores._found(store, ids).values()) == ["last", "one"]
    needed = _name_stores.index_ids(ids[:1])
    _name_stores.forget_names(store, needed, 1)
    assert _name_stores._found(store, ids) == {2**64 - 1: "last"}
    assert store.counts.tolist() == [1, 4, 0]


@given(st.lists(st.integers(0, 3), max_size=60), st.data())
def test_no_block_counts_as_learned_too_early(lengths, data):
    patch = pytest.MonkeyPatch()
    patch.setattr("shortlist.sources._unlearned._MOST_ENDS", 5)
    ends = np.cumsum(lengths).tolist()
    blocks = Unlearned()
    for end in ends:
        blocks.close(end)
    patch.undo()
    for learned in sorted(data.draw(st.lists(st.integers(0, 200), max_size=5))):
        first = blocks.first(after=learned)
        assert all(end < learned for end in ends[:first])
    assert blocks.first(after=10**6) == len(ends)


def test_parsing_and_forgetting_go_on_side_by_side(small_stores):
    patch = piped(as_vw(*stream(5000)))
    source = VwSource("-", block_bytes=500)
    tell = source.ids([f"a^tell0_{word}" for word in range(8)])
    source._known.clear()
    latest, is_over, n_retained = [0], threading.Event(), 0

    def parse():
        for block in source.blocks():
            latest[0] = block.position
        is_over.set()

    thread = threading.Thread(target=parse)
    thread.start()
    while not is_over.is_set():
        source.retain(tell, latest[0])
        n_retained += 1
    thread.join()
    patch.undo()
    assert n_retained > 3
    assert source.names(tell) == [f"a^tell0_{word}" for word in range(8)]
    source.retain(tell, latest[0] + 1)
    assert names_held(source) == 8


def test_wrappers_pass_it_on(small_stores):
    patch = piped(as_vw(*stream(500)))
    source = VwSource("-", block_bytes=1000)
    train, test = split_holdout(LabelledSource(source, {-1: "no", 1: "yes"}), 0.2, 0)
    blocks = list(train.blocks())
    assert train.crowded
    assert test.crowded
    assert train.n_names == source.n_names
    train.retain(np.empty(0, np.uint64), blocks[-1].position)
    assert not source.crowded
    patch.undo()


def test_files_have_nothing_to_forget(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text(as_vw(*stream(100)))
    source = VwSource(path)
    assert source.n_names == 0
    ids = np.concatenate([block.ids for block in source.blocks()])
    n = source.n_names
    assert n == pytest.approx(len(np.unique(ids)), rel=0.05)
    list(source.blocks())
    assert source.n_names == n
    assert not source.crowded
    source.retain(ids[:1], 10**9)
    assert source.names(ids[-2:])[0].startswith("a^")
