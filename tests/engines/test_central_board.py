"""A board for workers that die: each push once, nobody too stale, successors go on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engines.board import SharedBoard
from shortlist.engines.central_board import CentralBoard, Report, Superseded


class Process:
    """A worker that adds what it is told, and reports what it has added so far."""

    def __init__(self, board, worker):
        self.board, self.worker = board, worker
        self.life, self.sequence, self.done, self.held = board.enter(worker)

    def send(self, amount):
        words = (self.worker, self.sequence + 1, np.array([float(amount)]))
        report = Report(self.done + 1, self.held + amount, (amount,))
        return self.board.push(*words, report, self.life)

    def push(self, amount):
        assert self.send(amount)
        self.sequence, self.done = self.sequence + 1, self.done + 1
        self.held += amount


STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["step", "step", "again", "die", "die unheard", "zombie"]),
        st.integers(1, 9),
    ),
    max_size=60,
)


@given(steps=STEPS, tau_max=st.integers(0, 6))
def test_the_sum_is_what_reports_say_whoever_dies(steps, tau_max):
    board = CentralBoard(np.zeros(1), [0] * 4, tau_max)
    workers = [Process(board, t) for t in range(4)]
    waiting = set()  # those that have pulled
    n_pushes = 0
    for t, what, amount in steps:
        worker = workers[t]
        if what == "step":
            if t not in waiting:
                if board.is_due(t):
                    board.pull(t)
                    waiting.add(t)
                continue
            worker.push(amount)
            waiting.discard(t)
            n_pushes += 1
        elif what == "again" and worker.sequence:  # an answer that was lost
            words = (t, worker.sequence, np.array([9.0]), Report(9, 9), worker.life)
            assert not board.push(*words)
        elif what.startswith("die"):
            if (
                what == "die unheard" and t in waiting
            ):  # its last push came, its death with it
                worker.send(amount)
                n_pushes += 1
            workers[t] = Process(board, t)
            waiting.discard(t)
        elif what == "zombie" and worker.life > 1:
            old = (t, worker.sequence + 1, np.ones(1), Report(1, 1), worker.life - 1)
            with pytest.raises(Superseded):
                board.push(*old)
        # as another board sees it, which does not count pulls
        assert SharedBoard.pull(board, 0) == sum(w.held for w in workers)
    found = board.close()
    assert found.notes == [w.held for w in workers]
    assert [sum(log) for log in found.logs] == found.notes
    assert found.applied == n_pushes == board.done()
    assert found.stalest <= tau_max


@given(tau_max=st.integers(0, 8), order=st.randoms(use_true_random=False))
def test_nobody_waits_for_ever_and_nobody_is_too_stale(tau_max, order):
    board = CentralBoard(np.zeros(1), [0] * 5, tau_max)
    workers = [Process(board, t) for t in range(5)]
    left, pulled, most = [8] * 5, set(), 0
    while any(left):
        ready = [t for t in range(5) if left[t] and (t in pulled or board.is_due(t))]
        assert ready
        t = order.choice(ready)
        if t in pulled:
            workers[t].push(1)
            pulled.discard(t)
            left[t] -= 1
        else:
            board.pull(t)
            pulled.add(t)
            most = max(most, len(pulled))
    assert board.close().stalest <= tau_max
    assert most <= tau_max + 1


def test_nobody_of_an_earlier_board_is_taken_for_one_of_the_next():
    board = CentralBoard(np.zeros(1), [0], 3)
    lost = Process(board, 0)  # of whom nothing is heard for a while
    board.enter(0)
    board.close()
    later = CentralBoard(np.zeros(1), [0], 3, board.lives)
    Process(later, 0).push(2)
    lost.board, lost.sequence = later, 1
    with pytest.raises(Superseded):
        lost.push(5)
    assert later.close().total.tolist() == [2.0]


def test_after_the_end_nothing_is_taken():
    board = CentralBoard(np.zeros(1), [0], 3)
    worker = Process(board, 0)
    worker.push(2)
    assert board.close().total.tolist() == [2.0]
    with pytest.raises(Superseded, match="expected life 2, got 1"):
        worker.push(2)
