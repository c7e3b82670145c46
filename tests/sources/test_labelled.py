"""Labels become classes by a map, whatever source they come from."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources import (
    ArraySource,
    FastaSource,
    LabelledSource,
    LibsvmSource,
    open_source,
    split_holdout,
)
from shortlist.sources.pairs import PairSource

names = st.text("abc", min_size=1, max_size=2)


@given(
    st.lists(names | st.integers(0, 5), min_size=1, max_size=30),
    st.dictionaries(names | st.integers(0, 5), st.sampled_from(["P", "Q", "R"])),
    st.integers(1, 7),
)
def test_each_label_becomes_what_the_map_says(labels, label_map, block_rows):
    are_text = any(isinstance(label, str) for label in labels)
    labels = list(map(str, labels)) if are_text else labels
    base = ArraySource(np.ones((len(labels), 1)), labels, block_rows=block_rows)
    label_map = label_map or {"z": "P"}
    source = LabelledSource(base, label_map, strict=False)
    assert isinstance(source, RowSource)
    y = np.concatenate([block.y for block in source.blocks()])
    came = [None if x != x else source.label_names[int(x)] for x in y]
    by_text = {str(key): name for key, name in label_map.items()}
    assert came == [by_text.get(str(label)) for label in labels]


def test_a_label_that_the_map_has_not_is_located(tmp_path):
    path, map_path = tmp_path / "rows.svm", tmp_path / "map.tsv"
    path.write_text("1 1:1\n2 1:1\n\n3 2:1\n1 1:1\n")
    map_path.write_text("1\tcat\n2.0\tdog\n")
    source = open_source(path, label_map=map_path)
    assert source.label_names == ["cat", "dog"]
    blocks = source.blocks()
    assert next(blocks).y.tolist() == [0, 1]
    with pytest.raises(DataError, match=rf"{path}:4: expected .*{map_path} has, got 3"):
        next(blocks)
    skipping = open_source(path, label_map=map_path, on_error="skip")
    (block,) = skipping.blocks()
    np.testing.assert_array_equal(block.y, [0, 1, np.nan, 0])
    assert skipping.on_error == "skip"


def test_maps_that_make_no_sense_are_refused(tmp_path):
    base, path = ArraySource([[1.0]], [1]), tmp_path / "map"
    for text, message in (
        ("", "expected a label at least"),
        ("a b\n", "map: line 1: expected key, tab, label, got 'a b'"),
        ("a\tx\n\na\ty\n", "map: line 3: expected one label for 'a', got 'x' and 'y'"),
    ):
        path.write_text(text)
        with pytest.raises(ShortlistError, match=message):
            LabelledSource(base, path)
    with pytest.raises(ShortlistError, match="expected a mapping or the path of a map"):
        LabelledSource(base, tmp_path / "nowhere")
    with pytest.raises(
        DataError, match=r"one class for the label 1\.0, got 'x' and 'y'"
    ):
        next(LabelledSource(base, {"1": "x", "1.0": "y"}).blocks())


def test_all_else_is_as_in_the_base(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n2 1:1\n" * 50)
    base = LibsvmSource(path)
    source = copy.copy(LabelledSource(base, {1: "a", 2: "b"}))
    assert source.locate(3) == f"{path}:4"
    source.block_bytes = 20
    assert base.block_bytes == 20
    assert len(list(source.blocks())) > 10
    _, test = split_holdout(source, 0.5, 0)
    assert test.label_names == ["a", "b"]
    assert not hasattr(LabelledSource(ArraySource([[1.0]], [1]), {1: "a"}), "part")
    assert not hasattr(
        LabelledSource(ArraySource([[1.0]], [1]), {1: "a"}), "block_bytes"
    )


def test_parts_of_sequences_have_classes_too(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{'ACGTT' * 100}\n")
    base = FastaSource(tmp_path / "*.fa", k=3, fragment=20)
    source = LabelledSource(base, {"a": "one", "b": "one", "c": "two"})
    pairs = PairSource(source).part((0.5, 1.0))
    assert next(pairs.blocks()).ids.size > next(pairs.base.blocks()).ids.size
    part = source.part((0.5, 1.0))
    assert part.size == part.base.size < source.size
    (block,), (raw,) = part.blocks(), part.base.blocks()
    assert block.y.tolist() == (raw.y == 2).tolist()
