import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference import libsvm as reference
from shortlist.kernels.libsvm_text import BAD_FEATURE, parse_lines, rows_for
from shortlist.kernels.line_text import BAD_LABEL, GOOD, Hard, Parsed, Rows

TRICKY = b"1 2:0.5 34567890:-3.25e-7 18446744073709551615:1234567.8 qid:3 9:12345678\n"


def parse(text, is_end=True, skip_bad=False, room=None):
    room = room or rows_for(len(text))
    parsed = parse_lines(np.frombuffer(text, np.uint8), is_end, skip_bad, room)
    return Parsed(*parsed), room


def read_number(token):
    """The value the kernel gives a number, or None if it leaves it to the caller."""
    parsed, room = parse(token.encode())
    assert (parsed.fault, parsed.rows) == (GOOD, 1), token
    return None if parsed.hard else room.y[0]


def same(a, b):
    return struct.pack("d", a) == struct.pack("d", b)


finite = st.floats(allow_nan=False, allow_infinity=False)
formats = st.sampled_from(["{!r}", "{:.3g}", "{:.6g}", "{:.16g}", "{:.17g}", "{:.25e}"])
written = st.one_of(
    st.builds(str.format, formats, finite),
    st.builds("{:.9f}".format, st.floats(-1e6, 1e6)),
    st.from_regex(r"[+-]?[0-9]{0,25}\.[0-9]{1,25}(e[+-]?[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[0-9]{1,30}\.?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@given(written)
@settings(max_examples=500, deadline=None)
@example("9007199254740993")  # 2^53 + 1, halfway between two doubles
@example("18446744073709551616.5")  # 2^64 wraps around to 0
@example("0.000000000000000000000000000000012345678")
@example("8.5e22")
@example("-0")
@example("0e999")
@example("1e-999999999999999999999")
def test_numbers_are_those_of_python_to_the_last_bit(token):
    value = read_number(token)
    assert value is None or same(value, float(token))


def test_numbers_as_python_writes_them_are_hardly_ever_hard():
    draw = random.Random(0)
    tokens = [repr(draw.gauss(0, 1) * 10 ** draw.randint(-9, 9)) for _ in range(4000)]
    parsed, room = parse("\n".join(tokens).encode())
    assert parsed.hard <= 4
    assert sum(map(same, room.y[:4000], map(float, tokens))) >= 4000 - parsed.hard


def test_numbers_next_to_the_middle_of_two_doubles_are_rounded_to_the_right_side():
    draw = random.Random(0)
    n_hard = 0
    for _ in range(1500):
        number = draw.random() * 10.0 ** draw.randint(-200, 200)
        middle = (Fraction(number) + Fraction(math.nextafter(number, math.inf))) / 2
        exponent = math.floor(math.log10(number)) - 18
        digits = math.floor(middle / Fraction(10) ** exponent)  # nineteen or so
        for token in (f"{digits}e{exponent}", f"{digits + 1}e{exponent}"):
            value = read_number(token)
            n_hard += value is None
            assert value is None or same(value, float(token)), token
    assert 100 < n_hard < 2900  # both ways of reading them have been taken


def test_a_hard_number_is_noted_with_its_place():
    text = b"1\n123456789012345678901234567890 7:1e-320 8:2\n"
    parsed, room = parse(text)
    assert parsed.hard == 2
    label, value = (Hard(*place) for place in room.hard[:2].tolist())
    assert (label.fault, label.row, label.first, label.last) == (BAD_LABEL, 1, 1, 2)
    assert text[label.start : label.stop] == b"123456789012345678901234567890"
    assert (value.fault, value.row, value.first, value.last) == (BAD_FEATURE, 1, 0, 1)
    assert text[value.start : value.stop] == b"1e-320"
    assert room.y[1] == room.values[0] == 1.0
    assert room.values[1] == 2.0


def test_lines_without_their_end_are_left_for_the_next_time():
    text = b"1 2:3\n-1 4:5"
    for length in range(len(text) + 1):
        parsed, _ = parse(text[:length], is_end=False)
        assert (parsed.consumed, parsed.rows) == ((6, 1) if length >= 6 else (0, 0))
    assert parse(text)[0].rows == 2


def test_what_follows_the_text_is_never_looked_at():
    longer = np.frombuffer(TRICKY + b"99999999", np.uint8)
    for length in range(len(TRICKY)):
        alone, room = parse(TRICKY[:length])
        other_room = rows_for(length)
        other = Parsed(*parse_lines(longer[:length], True, False, other_room))
        assert other == alone
        n = room.indptr[alone.rows]
        np.testing.assert_array_equal(other_room.ids[:n], room.ids[:n])
        np.testing.assert_array_equal(other_room.values[:n], room.values[:n])


@pytest.mark.parametrize(
    "line",
    [b"1\n", b"1", b"1 1:1\n", b"1" + b" 1:1" * 9, b"1e23\n", b"1 1:1e23\n", b"x\n"],
)
@pytest.mark.parametrize("repeats", [1, 2, 33])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_the_room_is_never_exceeded(line, repeats, skip_bad):
    text = line * repeats
    needed = rows_for(len(text))
    guard = 64
    wide = Rows(*(np.full((len(a) + guard, *a.shape[1:]), 77, a.dtype) for a in needed))
    wide.indptr[0] = 0
    parse(text, skip_bad=skip_bad, room=wide)
    for name, array, whole in zip(Rows._fields, needed, wide, strict=True):
        assert (whole[len(array) :] == 77).all(), name


@pytest.mark.parametrize(
    ("text", "fault", "where"),
    [
        (b"1 2:3\nabc 1:2\n", BAD_LABEL, 6),
        (b"1 2:3\nnan 1:2\n", BAD_LABEL, 6),
        (b"1 2:3\n1 2:3 4\n", BAD_FEATURE, 12),
        (b"1 2:3\n1 2:3 4:\n", BAD_FEATURE, 12),
        (b"1 2:3\n1 18446744073709551616:1\n", BAD_FEATURE, 8),
        (b"1 2:3\n1 2:3 :4\n", BAD_FEATURE, 12),
        (b"1 2:3\n1 2:inf\n", BAD_FEATURE, 8),
    ],
)
def test_a_fault_is_located_and_ends_parsing_before_its_line(text, fault, where):
    parsed, _ = parse(text)
    assert (parsed.fault, parsed.where) == (fault, where)
    assert (parsed.consumed, parsed.lines, parsed.rows, parsed.skipped) == (6, 1, 1, 0)
    skipping, _ = parse(text + b"5\n", skip_bad=True)
    assert (skipping.rows, skipping.skipped, skipping.fault) == (2, 1, GOOD)
    assert skipping.consumed == len(text) + 2


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        ("0", 0),
        ("00000000000000000000000000000000000000005", 5),
        ("12345678", 12345678),
        ("123456789", 123456789),
        ("9999999999999999999", 10**19 - 1),
        ("10000000000000000000", 10**19),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", None),
        ("19999999999999999999", None),
        ("28446744073709551616", None),  # 20 digits that wrap around to 10^19
        ("36893488147419103232", None),  # 2^65 wraps around to 0
        ("184467440737095516150", None),
    ],
)
def test_ids_up_to_the_largest_64_bit_integer(digits, value):
    parsed, room = parse(f"1 {digits}:1".encode())
    if value is None:
        assert parsed.fault == BAD_FEATURE
    else:
        assert (parsed.fault, int(room.ids[0])) == (GOOD, value)


@given(st.binary(max_size=40) | st.text("0159.eE+-: \t\r\n#qidnaf_", max_size=60))
@settings(max_examples=300, deadline=None)
def test_arbitrary_text_is_split_as_by_the_reference(text):
    text = text.encode() if isinstance(text, str) else text
    for skip_bad in (False, True):
        parsed, room = parse(text, skip_bad=skip_bad)
        if parsed.hard:
            continue  # the source reads these, and its tests look at them
        expected = reference.parse(text, "skip" if skip_bad else "raise")
        assert parsed.rows == len(expected.rows)
        assert parsed.skipped == expected.skipped
        assert (parsed.fault != GOOD) == (expected.error is not None)
        for i, row in enumerate(expected.rows):
            part = slice(room.indptr[i], room.indptr[i + 1])
            assert same(room.y[i], row.y)
            assert room.ids[part].tolist() == row.ids
            assert all(map(same, room.values[part], row.values))


@given(written)
@settings(max_examples=300, deadline=None)
def test_values_are_those_of_python_wherever_they_stand(token):
    for line in (
        f"1 5:{token} 6:1 7:1\n",
        f"1 5:1 6:1 7:{token}",
        f"1 5:{token}\t6:1\n",
    ):
        parsed, room = parse(line.encode())
        assert (parsed.fault, parsed.rows) == (GOOD, 1)
        values = room.values[: room.indptr[1]]
        if not parsed.hard:
            assert any(same(value, float(token)) for value in values)
        assert sum(value == 1.0 for value in values) >= len(values) - 1


def _random_text(draw, n_rows, n_features):
    """Lines of features, nearly all plain, with single blanks, as they should be."""
    odd = ["  ", "\t", " qid:3 ", " \t "]
    for row in range(n_rows):
        line = draw.choice(["1", "-1", "+1", "0.5"])
        for _ in range(draw.randint(0, n_features)):
            number = draw.choice([draw.randint(0, 10**7), draw.getrandbits(63)])
            value = draw.choice(["1", "-3", "0.25", f"{draw.gauss(0, 1):.5f}", "1e-7"])
            line += draw.choice([" "] * 30 + odd) + f"{number}:{value}"
        yield line + draw.choice([""] * 5 + [" ", "\r", " # note: 1", "#x"])
        if row % 7 == 0:
            yield draw.choice(["", "# only a note"])


@pytest.mark.parametrize("size", [(400, 30), (3, 9_000)])
def test_long_texts_and_long_lines_are_those_of_the_reference(size):
    text = "\n".join(_random_text(random.Random(0), *size)).encode()
    parsed, room = parse(text)
    rows = reference.parse(text).rows
    assert (parsed.fault, parsed.rows, parsed.hard) == (GOOD, len(rows), 0)
    for i, (label, ids, values) in enumerate(rows):
        at = slice(room.indptr[i], room.indptr[i + 1])
        assert room.y[i] == label
        assert room.ids[at].tolist() == list(ids)
        assert room.values[at].tolist() == list(values)
