import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.line_text import (
    BAD_LABEL,
    BAD_WEIGHT,
    GOOD,
    Hard,
    Parsed,
    Rows,
)
from shortlist.kernels.name_hash import hash_name
from shortlist.kernels.vw_text import (
    BAD_BASE,
    BAD_FEATURE,
    BAD_SCALE,
    BAD_SPACE,
    NO_BAR,
    parse_lines,
    places_for,
    rows_for,
)

TRICKY = b"1 2.5 'tag |space:0.5 name:-3.25e-7 a|longer_name b:12345678 c |x\n"
NO_PLACES = np.empty((0, 4), np.int64)


def parse(text, is_end=True, skip_bad=False, room=None, places=NO_PLACES, seed=0):
    text = np.frombuffer(text, np.uint8) if isinstance(text, bytes) else text
    room = room or rows_for(len(text))
    no_spaces = np.empty(0, np.uint64)
    seed = np.uint64(seed)
    parsed = parse_lines(text, is_end, skip_bad, seed, no_spaces, room, places)
    return Parsed(*parsed), room


def hash_of(name, seed=0):
    return hash_name(np.frombuffer(name, np.uint8), np.uint64(seed))


letters = st.binary(max_size=40).map(
    lambda b: bytes(c for c in b if c not in b" \t\r\n|:")
)


@given(letters, letters.filter(bool), st.binary(max_size=9), st.integers(0, 2**64 - 1))
@settings(max_examples=300, deadline=None)
def test_ids_are_hashes_of_whole_names(space, name, after, seed):
    full = space + b"^" + name if space else name
    for text in (b"1 |%b %b" % (space, name), b"1 |%b %b |%b" % (space, name, after)):
        _, room = parse(text, seed=seed, skip_bad=True)
        assert room.ids[0] == hash_of(full, seed)


@pytest.mark.parametrize("n_space", range(18))
@pytest.mark.parametrize("n_name", [1, 2, 6, 7, 8, 9, 15, 16, 17, 24])
def test_ids_do_not_depend_on_how_names_fall_into_words(n_space, n_name):
    space, name = (
        b"abcdefghijklmnopqrst"[:n_space],
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n_name],
    )
    full = space + b"^" + name if space else name
    _, room = parse(b"1 |%b %b:2 %b |%b %b" % (space, name, name, space, name))
    assert room.ids[:3].tolist() == [hash_of(full)] * 3
    assert room.values[:3].tolist() == [2, 1, 1]


def test_places_are_those_of_namespaces_and_names():
    places = places_for(len(TRICKY))
    parse(TRICKY, places=places)
    found = [
        (TRICKY[place[0] : place[1]], TRICKY[place[2] : place[3]])
        for place in places[:4].tolist()
    ]
    longer = b"longer_name"
    assert found == [
        (b"space", b"name"),
        (b"space", b"a"),
        (longer, b"b"),
        (longer, b"c"),
    ]


def test_hard_numbers_are_noted_with_their_places():
    hard = b"123456789012345678901234567890"
    text = b"0 |\n%b %b |a:0.5 b:%b |c:%b d e |f g\n" % (hard, hard, hard, hard)
    parsed, room = parse(text)
    assert parsed.hard == 4
    found = [Hard(*place) for place in room.hard[:4].tolist()]
    assert all(text[place.start : place.stop] == hard for place in found)
    assert [place[:4] for place in found] == [
        (BAD_LABEL, 1, 1, 2),
        (BAD_WEIGHT, 1, 1, 2),
        (BAD_FEATURE, 1, 0, 1),
        (BAD_SCALE, 1, 1, 3),
    ]
    assert (room.y[1], room.weight[1]) == (1, 1)
    assert room.values[:4].tolist() == [0.5, 1, 1, 1]  # to be multiplied


def test_lines_without_their_end_are_left_for_the_next_time():
    text = b"1 | a\n-1 | b"
    for length in range(len(text) + 1):
        parsed, _ = parse(text[:length], is_end=False)
        assert (parsed.consumed, parsed.rows) == ((6, 1) if length >= 6 else (0, 0))
    assert parse(text)[0].rows == 2


def test_what_follows_the_text_is_never_looked_at():
    longer = np.frombuffer(TRICKY + b"99999999", np.uint8)
    for length in range(len(TRICKY)):
        alone, room = parse(TRICKY[:length])
        other, other_room = parse(longer[:length])
        assert other == alone
        n = room.indptr[alone.rows]
        np.testing.assert_array_equal(other_room.ids[:n], room.ids[:n])
        np.testing.assert_array_equal(other_room.values[:n], room.values[:n])


@pytest.mark.parametrize(
    "line",
    [
        *(b"|\n", b"|", b"| a\n", b"|" + b" a" * 9, b"||||\n", b"|a b|c d\n", b"x\n"),
        *(b"1e23 1e23 1e23|\n", b"| a:1e23\n", b"|a:1e23|b:1e23\n", b"1e23\n"),
    ],
)
@pytest.mark.parametrize("repeats", [1, 2, 33])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_the_room_is_never_exceeded(line, repeats, skip_bad):
    text = line * repeats
    needed, guard = rows_for(len(text)), 64
    wide = Rows(*(np.full((len(a) + guard, *a.shape[1:]), 77, a.dtype) for a in needed))
    wide.indptr[0] = 0
    n_places = len(places_for(len(text)))
    places = np.full((n_places + guard, 4), 77)
    parse(text, skip_bad=skip_bad, room=wide, places=places)
    assert (places[n_places:] == 77).all()
    for name, array, whole in zip(Rows._fields, needed, wide, strict=True):
        assert (whole[len(array) :] == 77).all(), name


@pytest.mark.parametrize(
    ("line", "fault", "where"),
    [
        (b"abc | a", BAD_LABEL, 0),
        (b"1 -2 | a", BAD_WEIGHT, 2),
        (b"1 2 x | a", BAD_BASE, 4),
        (b"1 2 3 4 | a", NO_BAR, 6),
        (b"1", NO_BAR, 1),
        (b"1 |: a", BAD_SPACE, 3),
        (b"1 |s:x a", BAD_SCALE, 3),
        (b"1 | a b:", BAD_FEATURE, 6),
        (b"1 | a :", BAD_FEATURE, 6),
        (b"1 |s:1e200 a:1e200", BAD_FEATURE, 11),
    ],
)
def test_a_fault_is_located_and_ends_parsing_before_its_line(line, fault, where):
    text = b"1 | a\n" + line + b"\n"
    parsed, _ = parse(text)
    assert (parsed.fault, parsed.where) == (fault, 6 + where)
    assert (parsed.consumed, parsed.lines, parsed.rows, parsed.skipped) == (6, 1, 1, 0)
    skipping, _ = parse(text + b"|\n", skip_bad=True)
    assert (skipping.rows, skipping.skipped, skipping.fault) == (2, 1, GOOD)
    assert skipping.consumed == len(text) + 2
