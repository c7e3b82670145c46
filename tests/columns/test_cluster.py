"""Workers on three Ray nodes: budget, sums and recall, also when processes die.

Nodes are processes of this machine that talk over the loopback device. A busy machine may
take its time to start them, so nothing here depends on who begins first; what hangs is
ended after some minutes.
"""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from shortlist import DataError, OnlineSubstitution
from shortlist._targets import Target
from shortlist.cli import cli
from shortlist.columns._cluster import ClusterSubstitution
from shortlist.columns._data import Data
from shortlist.columns._sharing import at_a_time
from shortlist.columns._substitution import Request
from shortlist.engines.serial import Interrupted
from shortlist.losses import Logistic, Squared
from shortlist.sources import ArrayColumns

pytestmark = [
    pytest.mark.cluster,
    # Ray leaves sockets and files of the processes it started to the end of this one
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::FutureWarning:ray"),
]


#: Seconds after which a test that hangs fails.
MOST = 240


@pytest.fixture(scope="module")
def nodes():
    """Three nodes, the first of which this process belongs to; nothing is left of them."""
    from ray.cluster_utils import Cluster

    cluster, before = Cluster(), descendants()
    try:
        # Not 127.0.0.1, which Ray takes for the address that others know this machine by.
        # With two places each no node has room for all workers.
        for first in (True, False, False):
            more = {"include_dashboard": False} if first else {}
            cluster.add_node(False, node_ip_address="127.0.0.2", num_cpus=2, **more)
        cluster.wait_for_nodes(MOST)
        yield cluster
    finally:
        cluster.shutdown()
    deadline = time.monotonic() + 60
    while (left := descendants() - before) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not left


@pytest.fixture
def cluster(nodes, monkeypatch):
    """The cluster, as an existing one that a fit finds; for some minutes."""

    def give_up(*_):
        raise TimeoutError(f"expected an end within {MOST} s")

    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(MOST)
    yield nodes
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def descendants():
    """Processes that this one, or one of these, has started and that run."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, *_ = status.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if state != "Z":
            parents[int(status.parent.name)] = int(parent)
    found, new = set(), {os.getpid()}
    while new := {pid for pid, parent in parents.items() if parent in new} - found:
        found |= new
    return found


def draw(n=300, p=1536, s=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    support = rng.choice(p, s, replace=False)
    # none so small that it is a matter of luck: order differs from run to run
    w = rng.choice([-1.0, 1.0], s) * rng.uniform(0.5, 2.0, s)
    y = X[:, support] @ w + 0.1 * rng.normal(size=n)
    return X, y, set(support.tolist())


def cluster_run(X, y, k, loss=None, q=3, **options):
    loss = Squared() if loss is None else loss
    target = Target(
        loss, (-1, 1) if loss.is_classifier else None, np.array([-1.0, 1.0])
    )
    data = Data.of(target, y, None)
    return ClusterSubstitution(data, Request(k), ArrayColumns(X), q, **options)


def check_books(run, X, k):
    """All that must hold of a finished run, whoever died in it."""
    p, q = X.shape[1], len(run.workers)
    Z = (X - X.mean(0)) / X.std(0)
    expected = sum(
        worker.intercept * (run.data.loss != Squared())
        + Z[:, worker.retained.ids[: worker.retained.n].astype(int)] @ worker.weights
        for worker in run.workers
    )
    np.testing.assert_allclose(run.gathered[-1].total, expected, atol=1e-8)
    assert run.drift < 1e-8
    held = [i for worker in run.workers for i in worker.retained.holds()]
    assert len(set(held)) == len(held) == k
    some = [at_a_time(request.k) for request in run.requests]
    pushes = sum(-(-len(range(t, p, q)) // some[t]) for t in range(q))
    assert [found.applied for found in run.gathered] == [pushes] * len(run.gathered)
    assert max(found.stalest for found in run.gathered) <= run.tau_max


def recall(shortlist, support):
    return len({int(name[1:]) for name in shortlist.names} & support) / len(support)


def test_a_cluster_finds_what_threads_find(cluster):
    found = {"threads": [], "ray": []}
    for seed in range(2):
        X, y, support = draw(n=500, p=1024, s=32, seed=seed)
        run, places = cluster_run(X, y, 32, seed=seed), {}
        chosen = run.run(lambda _, run=run, seen=places: seen.update(run.crew.places()))
        check_books(run, X, 32)
        found["ray"].append(recall(chosen, support))
        threads = OnlineSubstitution(32, n_workers=3, seed=seed).fit(X, y)
        found["threads"].append(recall(threads.shortlist_, support))
        assert len({place.pid for place in places.values()} - {os.getpid()}) == 3
        assert len({place.node for place in places.values()}) > 1
    assert np.mean(found["ray"]) >= np.mean(found["threads"]) - 0.03
    assert np.mean(found["ray"]) > 0.9


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=["squared", "logistic"])
def test_a_worker_that_is_killed_is_replaced(cluster, loss):
    X, y, _ = draw()
    if loss != Squared():
        X, y = X[:, :600], np.sign(y)
    run = cluster_run(X, y, 24, loss)
    victims = []

    def observe(progress):
        places = run.crew.places()
        if not victims and progress.position >= X.shape[1] // 4 and 1 in places:
            victims.append(places[1].pid)
            os.kill(victims[0], signal.SIGKILL)

    chosen = run.run(observe)
    assert victims
    assert run.crew.deaths == chosen.params["deaths"] == 1
    check_books(run, X, 24)
    assert len(set(chosen.names)) == 24
    assert set(chosen.names) <= set(chosen.trace["entered"].tolist())


def test_files_are_read_by_the_workers_and_errors_come_home(cluster, tmp_path):
    X, y, support = draw(n=200, p=96, s=4)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(96)]).assign(target=y)
    frame.to_parquet(tmp_path / "table.parquet")
    words = ["select", "--columns", str(tmp_path / "table.parquet"), "-k", "6"]
    words += ["--target", "target", "--engine", "ray", "--workers", "2"]
    words += ["--never", f"x{min(support)}", "--format", "json"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.stderr
    assert '"engine": "ray"' in done.stdout
    left_out, *others = sorted(support)
    assert f'"x{left_out}"' not in done.stdout
    assert all(f'"x{j}"' in done.stdout for j in others)
    X[5, 60] = np.nan
    selector = OnlineSubstitution(6, n_workers=2, engine="ray", tau_max=0)
    with pytest.raises(DataError, match=r"row 5, column 'x60': expected a finite"):
        selector.fit_columns(X, y)
    assert 3 <= selector.shortlist_.n_selected <= 6  # what was found by then


def test_an_interrupt_leaves_what_was_found(cluster):
    X, y, _ = draw()

    def observe(progress):
        if progress.position >= 300:
            raise KeyboardInterrupt

    selector = OnlineSubstitution(8, n_workers=2, engine="ray")
    with pytest.raises(Interrupted):
        selector.fit_columns(X, y, observe=observe)
    assert 1 <= selector.shortlist_.n_selected <= 8


def test_a_node_that_is_lost_is_made_up_for(cluster):
    X, y, support = draw()
    run = cluster_run(X, y, 24)
    lost = []

    def observe(progress):
        used = {place.node for place in run.crew.places().values()}
        nodes = [node for node in cluster.worker_nodes if node.node_id in used]
        # early: who has done all its work by then is not missed
        if not lost and progress.position > 0 and nodes:
            lost.append(nodes[0])
            cluster.remove_node(nodes[0], allow_graceful=False)

    chosen = run.run(observe)
    assert lost
    assert run.crew.deaths >= 1
    check_books(run, X, 24)
    assert recall(chosen, support) > 0.8
