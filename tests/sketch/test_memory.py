"""Sizes are read as written, and no sketch outgrows them."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shortlist._protocols import ShortlistError
from shortlist.kernels.block_sketch import CELLS
from shortlist.kernels.count_sketch import MAX_SIZE, width_for_error
from shortlist.sketch._memory import blocks_within, cells_in_row, parse_bytes

quick = settings(max_examples=100, deadline=None)
MAX_WIDTH = 2**32 - 1
shapes = st.tuples(st.integers(1, 10), st.integers(1, 20), st.integers(0, 10**6))


def bytes_used(width, rows, n_margins, slots):
    """Four bytes a cell, eight a slot of the candidates."""
    return 4 * width * rows * n_margins + 8 * slots


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16MB", 16_000_000),
        ("512KiB", 524_288),
        ("512 kib", 524_288),
        ("1.5GB", 1_500_000_000),
        ("2Gi", 2 * 2**30),
        ("0.5mib", 2**19),
        (" 7k ", 7000),
        ("123B", 123),
    ],
)
def test_sizes_are_read_with_decimal_and_binary_units(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "MB",
        "123",
        ".",
        "1.2.3MB",
        "-5MB",
        "5TB",
        "5 M i B",
        "5XB",
        "five",
        "1e6",
        "nan",
    ],
)
def test_what_is_no_size_is_refused_with_an_example_of_one(text):
    with pytest.raises(ShortlistError, match="16MB") as error:
        parse_bytes(text)
    assert repr(text) in str(error.value)


@quick
@given(st.integers(10**3, 10**10), shapes)
def test_sketch_and_candidates_stay_within_the_bytes_and_use_them(size, shape):
    assume(bytes_used(8, *shape) <= size)
    width = cells_in_row(f"{size}B", *shape)
    assert bytes_used(width, *shape) <= size
    assert width == MAX_WIDTH or bytes_used(width + 1, *shape) > size


@quick
@given(st.integers(10**3, 10**10), shapes)
def test_a_number_of_cells_is_the_number_in_all(cells, shape):
    rows, n_margins, _ = shape
    assume(cells >= 8 * rows * n_margins)
    width = cells_in_row(cells, *shape)
    assert width * rows * n_margins <= cells
    assert width == MAX_WIDTH or (width + 1) * rows * n_margins > cells


@quick
@given(st.integers(10**3, 10**10), st.integers(4, 1000), st.integers(0, 10**6))
def test_blocks_and_candidates_stay_within_the_bytes_and_use_them(size, numbers, slots):
    assume(8 * slots + 8 * numbers <= size)
    blocks = blocks_within(f"{size}B", 3, numbers, slots)
    assert 8 * slots + 4 * numbers * blocks <= size
    full = (blocks + 1) * numbers >= MAX_SIZE
    assert full or 8 * slots + 4 * numbers * (blocks + 1) > size
    assert blocks_within(size, 3, numbers, slots) == min(
        size // numbers, (MAX_SIZE - 1) // numbers
    )


def test_a_row_has_no_more_cells_than_can_be_addressed():
    assert cells_in_row("100000GB", 1, 1, 0) == MAX_WIDTH
    assert cells_in_row(10**15, 1, 1, 0) == MAX_WIDTH


@pytest.mark.parametrize("memory", ["1KB", "32KB", 20, 0])
def test_too_little_memory_is_refused(memory):
    with pytest.raises(ShortlistError, match=f"memory={memory!r} is too small"):
        cells_in_row(memory, 4, 1, 4097)


@quick
@given(shapes)
def test_the_memory_that_the_refusal_names_would_do(shape):
    with pytest.raises(ShortlistError) as error:
        cells_in_row("1B", *shape)
    named = re.search(r"at least (\S+) would do", str(error.value))[1]
    assert cells_in_row(named, *shape) >= 8


@pytest.mark.parametrize("text", ["9" * 400, "5M\u0131"])
def test_sizes_beyond_measure_and_foreign_letters_are_refused(text):
    with pytest.raises(ShortlistError, match="memory should be a size"):
        parse_bytes(text)


def test_digits_alone_are_cells_as_text_and_as_a_number():
    assert cells_in_row("3000", 3, 1, 500) == cells_in_row(3000, 3, 1, 500) == 1000


def test_an_error_is_a_width_that_bounds_it():
    wide, narrow = cells_in_row("1%", 3, 1, 500), cells_in_row("10 %", 3, 1, 500)
    assert wide == pytest.approx(100 * narrow, rel=1e-3)
    assert narrow == width_for_error(3, 0.1)
    assert cells_in_row("10%", 5, 1, 500) < narrow
    blocks = blocks_within("10%", 3, 16, 500)
    assert CELLS * blocks == pytest.approx(1 / (0.01 * 2 / 3 * 0.1**2), abs=CELLS)


@pytest.mark.parametrize("memory", ["0%", "100%", "x%", "0.0001%", None, 1.5, True])
def test_other_memories_are_refused(memory):
    with pytest.raises(ShortlistError, match="memory"):
        cells_in_row(memory, 3, 1, 500)
