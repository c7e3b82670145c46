import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.json_text import (
    BAD_NUMBER,
    NO_END,
    NO_KEY,
    NO_OBJECT,
    TWO_LABELS,
    UNDECIDED,
    parse_lines,
    rows_for,
    scratch_for,
    task_for,
    with_room,
)
from shortlist.kernels.json_tokens import BAD_ESCAPE
from shortlist.kernels.line_text import BAD_LABEL, BAD_WEIGHT, GOOD, Hard, Parsed, Rows
from shortlist.kernels.name_hash import hash_name
from shortlist.kernels.name_store import open_store
from shortlist.kernels.name_words import hash_start

NOTHING = np.empty(0, np.uint64)
TRICKY = (
    b'{"y":-1.5,"a":{"b":"\\u00e9\xc3\xa9","longer_key":[1,"two",{"c":12345678}]}} \r\n'
)


def parse(text, is_end=True, skip_bad=False, room=None, scratch=None, missing=0):
    text = np.frombuffer(text, np.uint8) if isinstance(text, bytes) else text
    room = room or rows_for(len(text))
    notes = np.array([missing, 0, UNDECIDED, 0, 0, 0, 0])
    task = task_for(
        b"y", b"w", open_store(1, 0), open_store(99, 999), 0, NOTHING, notes
    )
    task = with_room(task, len(text))
    task = task._replace(scratch=task.scratch if scratch is None else scratch)
    if b"w" not in text.tobytes():
        task = task._replace(weight=task.weight[:0])
    return Parsed(*parse_lines(text, is_end, skip_bad, room, task)), room


@given(st.binary(max_size=40), st.integers(0, 2**64 - 1))
@settings(max_examples=100, deadline=None)
def test_hashing_words_is_hashing_bytes(name, seed):
    seed = np.uint64(seed)
    whole = np.frombuffer(name + b"12345678", np.uint8).copy()
    for n in range(len(name) + 1):
        assert hash_start(whole, n, seed) == hash_name(whole[:n], seed)


def test_hard_numbers_are_noted_with_their_places():
    hard = b"123456789012345678901234567890"
    text = b'{"w":1}\n{"y":%b,"w":%b,"a":2,"b":-%b,"c":[%b]}\n' % (4 * (hard,))
    parsed, room = parse(text)
    assert (parsed.rows, parsed.hard) == (2, 3)
    found = [Hard(*place) for place in room.hard[:3].tolist()]
    assert all(text[p.start : p.stop].removeprefix(b"-") == hard for p in found)
    assert [place[:4] for place in found] == [
        (BAD_LABEL, 1, 1, 2),
        (BAD_WEIGHT, 1, 1, 2),
        (BAD_NUMBER, 1, 1, 2),
    ]
    assert (room.y[1], room.weight[1]) == (1, 1)
    assert room.values[:3].tolist() == [2, 1, 1]


def test_lines_without_their_end_are_left_for_the_next_time():
    text = b'{"a":1}\n{"b":2}'
    for length in range(len(text) + 1):
        parsed, _ = parse(text[:length], is_end=False)
        assert (parsed.consumed, parsed.rows) == ((8, 1) if length >= 8 else (0, 0))
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
        *(b"{}\n", b"{}", b'{"a":[1,1,1,1]}', b'{"":1,"":1}\n', b'{"":[]}\n', b"x\n"),
        *(b'{"":[null,null]}\n', b'{"y":1e23,"w":1e23,"a":1e23}\n', b'{"a":"bcdefgh'),
        *(b'{"a":[1e23,1e23]}\n', b'{"abcdefgh":{"abcdefgh":{"abcdefgh":null}}}'),
        *(b'{"' + b"\\u00e9\\ud83d\\ude00" * 9 + b'":"x"}\n', b'{"":null}', b'{"'),
    ],
)
@pytest.mark.parametrize("repeats", [1, 2, 33])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_the_room_is_never_exceeded(line, repeats, skip_bad):
    text = line * repeats
    needed, guard = rows_for(len(text)), 64
    wide = Rows(*(np.full((len(a) + guard, *a.shape[1:]), 77, a.dtype) for a in needed))
    wide.indptr[0] = 0
    n_scratch = len(scratch_for(len(text)))
    scratch = np.full(n_scratch + guard, 77, np.uint8)
    parse(text, skip_bad=skip_bad, room=wide, scratch=scratch, missing=2)
    assert (scratch[n_scratch:] == 77).all()
    for name, array, whole in zip(Rows._fields, needed, wide, strict=True):
        assert (whole[len(array) :] == 77).all(), name


@pytest.mark.parametrize(
    ("line", "fault", "where"),
    [
        (b"[]", NO_OBJECT, 0),
        (b'{"a":1,}', NO_KEY, 7),
        (b'{"a":-x}', BAD_NUMBER, 5),
        (b'{"a":"bc\\x"}', BAD_ESCAPE, 8),
        (b'{"y":1,"y":2}', TWO_LABELS, 11),
        (b'{"y":"a","b":1}', BAD_LABEL, 5),
        (b"{} {}", NO_END, 3),
    ],
)
def test_a_fault_is_located_and_ends_parsing_before_its_line(line, fault, where):
    text = b'{"y":1}\n' + line + b"\n"
    parsed, _ = parse(text)
    assert (parsed.fault, parsed.where) == (fault, 8 + where)
    assert (parsed.consumed, parsed.lines, parsed.rows, parsed.skipped) == (8, 1, 1, 0)
    skipping, _ = parse(text + b"{}\n", skip_bad=True)
    assert (skipping.rows, skipping.skipped, skipping.fault) == (2, 1, GOOD)
    assert skipping.consumed == len(text) + 3
