"""Marks stand at every separator; numbers between them are those of Python."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.marked_numbers import integer_between, number_between
from shortlist.kernels.separators import marks_for, marks_from

texts = st.binary(max_size=300).map(lambda text: bytes(c % 72 for c in text))
between = settings(max_examples=300, deadline=None)


def characters(text):
    return np.frombuffer(text, np.uint8)


def all_marks(text, step):
    """Walk through a text, ``step`` marks at a time; the end of the text is a mark."""
    seen, p, room = [], 0, marks_for(len(text))
    d = n = covered = 0
    while True:
        d, n, covered = marks_from(characters(text), p, room, d, n, covered)
        if d == n:
            return seen
        here = room[d : min(d + step, n)].tolist()
        assert n - d >= 3 or covered == len(text) + 1
        seen += here
        p = here[-1] + 1


def expected_marks(text):
    return [p for p, c in enumerate(text) if c <= 32 or c == ord(":")] + [len(text)]


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(1, 3))
def test_marks_are_all_separators_and_the_end(text, step):
    assert all_marks(text, step) == expected_marks(text)


@pytest.mark.parametrize("distance", [1, 7, 64, 65])
def test_marks_of_a_text_with_more_of_them_than_there_is_room_for(distance):
    text = (b"x" * (distance - 1) + b":") * (40_000 // distance)
    assert all_marks(text, 3) == expected_marks(text)


def test_marks_may_be_asked_for_further_on():
    text = b"a b " * 5_000
    room = marks_for(len(text))
    d, n, covered = marks_from(characters(text), 19_000, room, 0, 0, 0)
    assert room[d : d + 3].tolist() == [19_001, 19_003, 19_005]
    assert (n - d >= 3, covered > 19_005) == (True, True)


def read(function, token):
    """Read a token in the midst of other text, at its end, and alone."""
    answers = set()
    for before, after in ((b"7:", b" 1:1 2:2 3:3"), (b"12345678 ", b""), (b"", b"")):
        text = characters(before + token + after)
        answers.add(function(text, len(before), len(before) + len(token)))
    if any(good for _, good in answers):
        assert len(answers) == 1
        return answers.pop()[0]
    return None


@between
@given(st.text("0123456789", min_size=1, max_size=10))
def test_an_integer_is_read_if_it_has_one_to_eight_digits(digits):
    expected = int(digits) if len(digits) <= 8 else None
    assert read(integer_between, digits.encode()) == expected


@between
@given(st.text("0123456789.-+e:x", min_size=1, max_size=10))
def test_what_is_read_is_what_python_reads(token):
    value = read(number_between, token.encode())
    if value is not None:
        assert (value, str(value)[0] == "-") == (float(token), token[0] == "-")
    if read(integer_between, token.encode()) is not None:
        assert token.isdigit()


def test_plain_numbers_of_up_to_eight_characters_are_read():
    draw = random.Random(0)
    for _ in range(3_000):
        digits = "".join(draw.choices("0123456789", k=draw.randint(1, 7)))
        point = draw.randint(0, len(digits))
        token = draw.choice(["", "-"]) + digits[:point] + "." + digits[point:]
        if not token.endswith("0.") or len(token) > 3:  # left to others
            assert read(number_between, token.encode()) == float(token)
        token = "0." + digits
        assert read(number_between, token.encode()) == float(token)
