"""Boards apply each push once, lose none, and are as stale as they are told."""

from threading import Thread

import numpy as np
import pytest

from shortlist import ShortlistError
from shortlist.engines.board import SharedBoard, StaleBoard
from shortlist.engines.workers import on_threads, take_turns


def test_a_push_that_is_sent_again_is_applied_once():
    board = SharedBoard(np.zeros(1))
    assert board.push(0, 1, np.ones(1))
    assert not board.push(0, 1, np.ones(1))
    assert board.push(1, 1, np.ones(1))
    assert board.push(0, 2, np.ones(1))
    assert not board.push(0, 1, np.ones(1))
    assert board.pull(0).tolist() == [3.0]
    with pytest.raises(ShortlistError, match="expected push 3, got 5"):
        board.push(0, 5, np.ones(1))


def test_no_update_of_threads_is_lost():
    board = SharedBoard(np.zeros(1000))

    def push(worker):
        for sequence in range(1, 301):
            board.push(worker, sequence, np.ones(1000))

    threads = [Thread(target=push, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (board.pull(0) == 1200).all()


def test_what_is_pulled_can_be_changed_without_harm():
    board = SharedBoard(np.zeros(2))
    board.pull(0)[:] = 7.0
    assert board.pull(0).tolist() == [0.0, 0.0]


def test_a_stale_board_hides_the_latest_of_others_only():
    board = StaleBoard(np.array([100.0]), staleness=2)
    for sequence, (worker, delta) in enumerate([(0, 1.0), (0, 2.0), (0, 4.0)], 1):
        board.push(worker, sequence, np.array([delta]))
    board.push(1, 1, np.array([8.0]))
    assert not board.push(1, 1, np.array([8.0]))
    assert board.pull(0).tolist() == [107.0]  # without the 8 of worker 1
    assert board.pull(1).tolist() == [111.0]  # without the 4 of worker 0
    assert board.pull(2).tolist() == [103.0]


def test_workers_take_turns():
    done = []

    def work(name, n):
        for _ in range(n):
            done.append(name)
            yield

    take_turns([work("a", 1), work("b", 3), work("c", 2)])
    assert done == list("abcbcb")


def test_an_error_in_a_thread_ends_all():
    def endless():
        while True:
            yield

    def failing():
        yield
        raise ShortlistError("no")

    with pytest.raises(ShortlistError, match="no"):
        on_threads([endless(), failing(), endless()])
