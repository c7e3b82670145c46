"""Blocks drawn by a thread: the same ones, in order, with their faults."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.sources.ahead import DEPTH, read_ahead


class Fault(Exception):
    """Something that an iterator raises."""


def drawn_from(items, fault_after=None, closed=None):
    try:
        for i, item in enumerate(items):
            if i == fault_after:
                raise Fault(i)
            yield item
    finally:
        if closed is not None:
            closed.append(threading.current_thread().name)


@given(st.lists(st.integers()), st.integers(0, 12))
def test_items_come_in_order_and_faults_after_them(items, fault_after):
    ahead = read_ahead(drawn_from(items, fault_after))
    assert [next(ahead) for _ in items[:fault_after]] == items[:fault_after]
    with pytest.raises(Fault if fault_after < len(items) else StopIteration):
        next(ahead)


def test_no_more_is_drawn_than_may_wait():
    taken = []

    def source():
        for i in range(100):
            taken.append(i)
            yield i

    ahead = read_ahead(source())
    assert next(ahead) == 0
    ahead.close()
    assert len(taken) <= DEPTH + 3  # one in use, one waiting, one in each hand


@pytest.mark.parametrize("n_taken", [0, 1, 5])
def test_closing_closes_the_iterator_and_ends_the_thread(n_taken):
    closed = []
    ahead = read_ahead(drawn_from(range(1000), closed=closed))
    next(ahead)
    for _ in range(n_taken):
        next(ahead)
    ahead.close()
    assert closed == ["read ahead"]
    assert all(t.name != "read ahead" for t in threading.enumerate())


def test_a_thread_that_waits_for_a_pipe_holds_nobody_up():
    release = threading.Event()

    def slow():
        yield 1
        release.wait(30)
        yield 2

    ahead = read_ahead(slow())
    assert next(ahead) == 1
    ahead.close()  # would last thirty seconds if it waited for the thread
    assert not release.is_set()
    release.set()
