"""Asynchronous workers: budget, sums and recall, on threads and simulated."""

import pickle
import signal
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from shortlist import ShortlistError
from shortlist._targets import Target
from shortlist.columns import OnlineSubstitution
from shortlist.columns._cluster import Holding
from shortlist.columns._data import Data
from shortlist.columns._sharing import SharedSubstitution
from shortlist.columns._substitution import Request, quotas
from shortlist.engines._interrupts import uninterrupted
from shortlist.engines.board import SharedBoard
from shortlist.engines.ray_cluster import Crew
from shortlist.engines.serial import Broken, Interrupted
from shortlist.engines.workers import on_threads
from shortlist.losses import Logistic, Squared, SquaredHinge
from shortlist.sources import ArrayColumns


def draw(n=300, p=512, s=16, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    support = rng.choice(p, s, replace=False)
    y = X[:, support] @ rng.normal(size=s) + 0.1 * rng.normal(size=n)
    return X, y, set(support.tolist())


def shared(X, y, k, q, loss=None, **options):
    loss = Squared() if loss is None else loss
    values = np.array([-1.0, 1.0])
    target = Target(loss, (-1, 1) if loss.is_classifier else None, values)
    data = Data.of(target, y, None)
    return SharedSubstitution(data, Request(k), ArrayColumns(X), q, **options)


@pytest.mark.parametrize(("k", "q"), [(10, 3), (7, 7), (5, 1), (64, 8)])
def test_quotas_sum_to_the_budget(k, q):
    shares = [request.k for request in quotas(Request(k), q)]
    assert sum(shares) == k
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("staleness", [None, 0, 4])
@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_the_sum_on_the_board_is_what_the_retained_columns_say(staleness, loss):
    X, y, _ = draw(p=200)
    y = y if loss == Squared() else np.sign(y)
    run = shared(X, y, 8, 4, loss=loss, staleness=staleness)
    run.run()
    Z = (X - X.mean(0)) / X.std(0)
    expected = sum(
        worker.intercept * (loss != Squared())
        + Z[:, worker.retained.ids[: worker.retained.n].astype(int)] @ worker.weights
        for worker in run.workers
    )
    total = SharedBoard.pull(run.board, 0)  # a stale board shows less
    np.testing.assert_allclose(total, expected, atol=1e-8)


@pytest.mark.parametrize("staleness", [None, 0, 4])
def test_nobody_holds_what_another_holds_and_the_budget_stands(staleness):
    X, y, support = draw()
    selector = OnlineSubstitution(16, n_workers=4, staleness=staleness).fit(X, y)
    names = selector.shortlist_.names
    assert len(set(names)) == len(names) == 16
    assert len({int(name[1:]) for name in names} & support) >= 14
    assert selector.score(X, y) > 0.99


def test_the_simulation_is_the_same_each_time():
    X, y, _ = draw()
    fits = [OnlineSubstitution(16, n_workers=4, staleness=4).fit(X, y) for _ in "ab"]
    assert fits[0].shortlist_ == fits[1].shortlist_
    other = OnlineSubstitution(16, n_workers=4, staleness=4, seed=1).fit(X, y)
    assert not np.array_equal(
        other.shortlist_.trace["entered"], fits[0].shortlist_.trace["entered"]
    )


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_features_always_in_stay_and_those_never_in_stay_out(loss):
    X, y, support = draw(p=200, s=6)
    y = y if loss == "squared" else y > 0
    best, *_ = support
    wanted = {"always": [190, "x191"], "never": [best], "loss": loss}
    selector = OnlineSubstitution(8, n_workers=3, staleness=1, **wanted).fit(X, y)
    chosen = set(selector.get_support(indices=True))
    assert {190, 191} <= chosen
    assert best not in chosen
    assert len(chosen) == 8


def test_retained_features_are_dealt_evenly_by_strength():
    X, y, _ = draw()
    run = shared(X, y, 16, 4, staleness=0)
    run.run()
    before = np.sort(np.concatenate([np.abs(w.weights[:, 0]) for w in run.workers]))
    total = sum(run._pushed)
    run._deal_retained()
    np.testing.assert_allclose(sum(run._pushed), total, atol=1e-10)
    hands = [np.sort(np.abs(w.weights[:, 0])) for w in run.workers]
    np.testing.assert_array_equal(np.sort([h[0] for h in hands]), before[:4])
    np.testing.assert_array_equal(np.sort([h[-1] for h in hands]), before[-4:])


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
def test_many_workers_do_not_move_the_intercept_too_far(loss):
    X, z, _ = draw(n=400, p=600)
    y = np.where(z > np.quantile(z, 0.3), 1.0, -1.0)  # an intercept is wanted
    alone, many = (shared(X, y, 16, q, loss=loss, staleness=q) for q in (1, 8))
    for run in (alone, many):
        run.run()
    (_, least), (_, loss_of_many) = alone.history[-1], many.history[-1]
    assert loss_of_many < 1.2 * least


def test_columns_that_come_once_cannot_be_dealt():
    X, y, _ = draw(p=20)
    pairs = ((f"c{j}", column) for j, column in enumerate(X.T))
    with pytest.raises(ShortlistError, match="read in any order"):
        OnlineSubstitution(4, n_workers=2).fit_columns(pairs, y)
    fitted = OnlineSubstitution(4, n_workers=2, staleness=0).fit(X, y)
    with pytest.raises(ShortlistError, match="add_columns goes with n_workers=1"):
        fitted.add_columns(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "mpi"}, "engine should be 'threads' or 'ray', got 'mpi'"),
        ({"engine": "ray", "staleness": 2}, "staleness is simulated on threads"),
        ({"tau_max": 3}, "tau_max goes with engine='ray'"),
        ({"engine": "ray", "tau_max": -1}, "tau_max should be a whole number from 0"),
    ],
)
def test_settings_of_engines_that_make_no_sense_are_refused(settings, message):
    X, y, _ = draw(p=20)
    with pytest.raises(ShortlistError, match=message):
        OnlineSubstitution(4, n_workers=2, **settings).fit(X, y)


def test_without_ray_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    X, y, _ = draw(p=20)
    with pytest.raises(ShortlistError, match=r"pip install shortlist\[ray\]"):
        OnlineSubstitution(4, n_workers=2, engine="ray").fit(X, y)


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_what_a_worker_holds_is_restored_from_its_report(loss):
    X, y, _ = draw(p=60)
    y = y if loss == Squared() else np.sign(y)
    run = shared(X, y, 8, 2, loss=loss, staleness=0)
    for worker in run.workers:  # none holds anything yet
        again = Holding.of(worker).restored(run.data, worker.settings, run.source)
        np.testing.assert_array_equal(again.margins(), worker.margins())
    run.run()
    for worker in run.workers:
        report = pickle.loads(pickle.dumps(Holding.of(worker, came=3)))
        again = report.restored(run.data, worker.settings, run.source)
        np.testing.assert_array_equal(again.margins(), worker.margins())
        assert again.retained.holds() == worker.retained.holds()
        assert Holding.of(again).names == report.names


def test_bad_data_in_mid_run_leave_what_was_found():
    X, y, _ = draw()
    last = np.random.default_rng(0).permutation(X.shape[1])[-1]  # as it is dealt
    X[3, last] = np.nan
    selector = OnlineSubstitution(8, n_workers=2)
    with pytest.raises(Broken, match=f"row 3, column 'x{last}'"):
        selector.fit_columns(X, y)
    assert selector.shortlist_.n_selected == 8


def test_an_interrupt_while_a_cluster_starts_is_an_interrupt(monkeypatch):
    class NotYet(Crew):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def run(self, *_):
            raise KeyboardInterrupt  # before there is a board to ask

    X, y, _ = draw(p=60)
    monkeypatch.setattr("shortlist.columns._cluster.Crew", NotYet)
    selector = OnlineSubstitution(8, n_workers=2, engine="ray")
    with pytest.raises(Interrupted):
        selector.fit_columns(X, y)
    assert selector.shortlist_.n_selected == 0


def test_ctrl_c_is_put_off_while_ray_starts():
    seen = []

    def start():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            seen.append("goes on")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert seen == ["goes on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_matrix_products_of_workers_do_not_wait_for_each_other():
    seen = []

    def work():
        seen.extend(
            library["num_threads"]
            for library in threadpool_info()
            if library["user_api"] == "blas"
        )
        yield

    before = threadpool_info()
    on_threads([work(), work()])
    assert seen
    assert set(seen) == {1}
    assert threadpool_info() == before


def test_an_interrupt_leaves_what_was_found():
    X, y, _ = draw()

    def observe(progress):
        if progress.position >= 200:
            raise KeyboardInterrupt

    selector = OnlineSubstitution(8, n_workers=2)
    with pytest.raises(Interrupted):
        selector.fit_columns(X, y, observe=observe)
    assert 1 <= selector.shortlist_.n_selected <= 8
