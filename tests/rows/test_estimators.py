"""What the estimators of room rows promise besides what all selectors do."""

import numpy as np
import pytest
from scipy import sparse

from shortlist import (
    BAMD,
    BARDA,
    L1ARDA,
    OFS,
    SOFS,
    AdaFobos,
    DataError,
    LibsvmSource,
    Shortlist,
    ShortlistError,
    VwSource,
)
from shortlist._protocols import Head
from shortlist.engines import run
from shortlist.rows._methods import barda
from shortlist.rows._rule import RowsRule
from shortlist.sources import ArraySource

ALL = [BARDA, BAMD, OFS, SOFS, L1ARDA, AdaFobos]


def words(seed=0, n=1500, p=300, strength=3.0):
    """Rows of a few words, of which those below 5 tell and are common."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.03, format="lil", rng=rng)
    X[:, :5] = rng.random((n, 5)) < 0.3
    X = X.tocsr()
    X.data[:] = 1.0
    w = np.zeros(p)
    w[:5] = strength * np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    return X, X @ w + 0.5 * rng.logistic(size=n) > 0.2


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: e.__name__)
def test_common_words_that_tell_are_found(estimator):
    X, y = words()
    fitted = estimator(k=5, passes=3).fit(X, y)
    chosen = set(fitted.get_support(indices=True))
    assert len(chosen & set(range(5))) >= (3 if estimator in (BAMD, OFS) else 5)


def test_dual_averaging_remembers_what_mirror_descent_forgets():
    found = {}
    for seed in range(3):
        X, y = words(seed, strength=1.5)
        for estimator in (BARDA, BAMD):
            chosen = estimator(k=5).fit(X, y).get_support(indices=True)
            found[estimator] = found.get(estimator, 0) + len(
                set(chosen) & set(range(5))
            )
    assert found[BARDA] >= found[BAMD] + 3


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: e.__name__)
@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_one_call_of_partial_fit_or_many_give_the_same_bits(estimator, kind):
    X, y = words(n=240)
    classes = None if kind == "numbers" else [0, 1] if kind == "two" else [0, 1, 2]
    y = {"two": y * 1, "three": y + (np.arange(240) % 5 == 0), "numbers": y * 7.3}[kind]
    once = estimator(k=4).partial_fit(X, y, classes=classes)
    often = estimator(k=4)
    for begin in range(0, 240, 3):
        rows = slice(begin, begin + 3)
        often.partial_fit(X[rows], y[rows], classes=classes)
    assert often.shortlist_ == once.shortlist_
    assert once.shortlist_.params["refit"] is False


def test_the_shortlist_carries_refitted_and_online_weights():
    X, y = words()
    online = BARDA(k=5, refit=False).fit(X, y)
    fitted = BARDA(k=5).fit(X, y)
    trace = fitted.shortlist_.trace
    ids = online.shortlist_.ids
    by_id = dict(zip(trace["online_ids"], trace["online_weights"], strict=True))
    np.testing.assert_array_equal([by_id[i] for i in ids], online.shortlist_.weights)
    assert set(fitted.shortlist_.ids) == set(ids)
    assert not np.array_equal(fitted.coef_, online.coef_)
    assert fitted.score(X, y) >= online.score(X, y)


def test_a_budget_a_class_and_a_shared_one():
    X, y = words()
    y = 1 * y + (X[:, [6]].toarray()[:, 0] > 0)
    apart = BARDA(k=3).fit(X, y).shortlist_
    assert apart.loss == "squared_hinge_ovr"
    assert np.bincount(apart.margin).tolist() == [3, 3, 3]
    assert BARDA(k=3, budget="shared").fit(X, y).shortlist_.n_selected == 3


def test_auto_means_the_losses_of_the_papers():
    X, y = words(n=100)
    assert BARDA(k=2).fit(X, y).shortlist_.loss == "squared_hinge"
    assert OFS(k=2).fit(X, y).shortlist_.loss == "hinge"
    assert BARDA(k=2, loss="logistic").fit(X, y).shortlist_.loss == "logistic"
    assert BARDA(k=2).fit(X, 1.5 * y).shortlist_.loss == "squared"


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_numbers_need_no_unit(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    y = unit * (3 * X[:, 2] - 2 * X[:, 7] + 40 + rng.normal(size=1500))
    fitted = BARDA(k=2, loss="squared", refit=False, passes=3).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [2, 7]
    assert fitted.score(X, y) > 0.75


def drifting(n=8000, d=400, k=10):
    """Rows of 34 features whose informative ones are replaced half-way."""
    rng = np.random.default_rng(0)
    first, second = rng.permutation(d)[: 2 * k].reshape(2, k)
    rows = np.repeat(np.arange(n), 34)
    columns = np.concatenate(
        [
            np.concatenate([rng.choice(d, 20, replace=False), first[:7], second[:7]])
            for _ in range(n)
        ]
    )
    values = rng.normal(size=len(rows))
    X = sparse.csr_array((values, (rows, columns)), shape=(n, d))
    old, new = np.zeros(d), np.zeros(d)
    old[first], new[second] = 1.0, 1.0
    half = n // 2
    y = np.concatenate([X[:half] @ old > 0, X[half:] @ new > 0])
    return X, y, set(first[:7].tolist()), set(second[:7].tolist())


def longest_stay(shortlist, number):
    """When a feature was a member for the longest time."""
    trace = shortlist.trace
    entered, left = trace["stay_entered"], trace["stay_left"]
    own = np.flatnonzero(trace["stay_ids"] == number)
    best = own[np.argmax((left - entered)[own])]
    return entered[best], left[best]


def test_who_forgets_follows_a_drift_and_the_trace_shows_it():
    X, y, first, second = drifting()
    fitted = BARDA(k=14, refit=False, forget=0.999).fit(X, y).shortlist_
    kept = BARDA(k=14, refit=False).fit(X, y).shortlist_
    assert second <= set(fitted.ids.tolist())
    after = 4  # the window of a thousand rows that begins with the drift
    assert fitted.trace["accuracy"][after] > kept.trace["accuracy"][after] + 0.1
    for number in first:
        entered, left = longest_stay(fitted, number)
        assert entered < 1000
        assert 4000 < left < 5500
    for number in second:
        entered, left = longest_stay(fitted, number)
        assert 4000 < entered < 5500
        assert left == 8000


def test_stays_add_up_to_the_budget_at_every_moment():
    X, y = words(n=400)
    for estimator in (BARDA, BAMD, OFS, SOFS):
        trace = estimator(k=6, refit=False).fit(X, y).shortlist_.trace
        assert trace["stays_forgotten"][0] == 0
        for moment in range(50, 400, 7):
            inside = (trace["stay_entered"] <= moment) & (trace["stay_left"] > moment)
            assert inside.sum() == 6
            assert len(set(trace["stay_ids"][inside].tolist())) == 6


def test_membership_is_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    X, y = words(n=400)
    fitted = BARDA(k=6).fit(X, y)
    display = fitted.plot_membership(most=9)
    ax = display.ax_
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 9
    assert set(fitted.get_feature_names_out()) <= set(labels) | {"x0"}
    longest = max(b.get_paths()[0].vertices[:, 0].max() for b in ax.collections)
    assert longest == display.frame["left"].max() == 400
    assert fitted.plot_membership(ax).ax_ is ax
    pyplot.close("all")
    with pytest.raises(ShortlistError, match="does not say who was a member"):
        L1ARDA(k=2).fit(X, y).plot_membership()


def test_words_that_left_are_drawn_by_name(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    path = tmp_path / "rows.vw"
    told = [("early" if i < 200 else "late", i % 2) for i in range(600)]
    lines = [
        f"{2 * y - 1} | {word if y else 'none'} z{i}"
        for i, (word, y) in enumerate(told)
    ]
    path.write_text("\n".join(lines))
    fitted = BARDA(k=2, forget=0.97).fit_source(VwSource(path))
    trace = fitted.shortlist_.trace
    assert "early" not in fitted.shortlist_.names
    assert "early" in trace["left_names"]
    assert not set(fitted.shortlist_.ids) & set(trace["left_ids"])
    saved = tmp_path / "model.shortlist"
    fitted.shortlist_.save(saved)
    assert Shortlist.load(saved) == fitted.shortlist_
    drawn = fitted.plot_membership().ax_
    labels = [label.get_text() for label in drawn.get_yticklabels()]
    pyplot.close("all")
    assert {"early", "late"} <= set(labels)
    assert not any(label.startswith("#") for label in labels)


def test_words_of_text_are_selected_by_name(tmp_path):
    path = tmp_path / "rows.vw"
    lines = [
        f"{1 if i % 2 else -1} | {'spam' if i % 2 else 'ham'} word{i} other{i % 7}"
        for i in range(300)
    ]
    path.write_text("\n".join(lines))
    fitted = BARDA(k=2).fit_source(VwSource(path))
    assert sorted(fitted.shortlist_.names) == ["ham", "spam"]
    assert fitted.score(VwSource(path)) == 1.0


def test_ids_may_be_any_and_grow(tmp_path):
    path = tmp_path / "rows.svm"
    rows = [f"{i % 2} {i % 2 + 7}:1 {10**12 * (i + 1)}:1\n" for i in range(200)]
    path.write_text("".join(rows))
    fitted = BARDA(k=2).fit_source(LibsvmSource(path))
    assert sorted(fitted.shortlist_.names) == ["7", "8"]


def test_more_features_than_memory_are_refused_with_a_way_out():
    X, y = words(n=200)
    learner = barda(2)
    cramped = RowsRule(learner.rule.method, most_bytes=10_000)
    source = ArraySource(X, np.where(y, 1.0, -1.0))
    (block,) = source.blocks()
    target = learner.start(source, Head(block.y)).target
    model = cramped.create(target, None)
    with pytest.raises(DataError, match=r"different features so far.*mission"):
        cramped.learn(model, target, block)


def test_results_are_saved_with_their_trace(tmp_path):
    X, y = words(n=200)
    fitted = BAMD(k=3).fit(X, y)
    fitted.shortlist_.save(tmp_path / "model")
    assert Shortlist.load(tmp_path / "model") == fitted.shortlist_


def test_online_weights_are_those_that_a_run_ends_with():
    X, y = words(n=200)
    source = ArraySource(X, np.where(y, 1.0, -1.0))
    once = run(barda(3, refit=False), source)
    twice = run(barda(3, refit=False, passes=2), source)
    assert once.trace["xi_rows"][-1] <= 200 < twice.trace["xi_rows"][-1]
    assert (once.trace["xi"] >= 0).all()


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (BARDA(k=2, eta=0), "eta should be above 0"),
        (BARDA(k=2, eta="fast"), "eta should be above 0"),
        (BARDA(k=2, lam=-1.0), "lam should be at least 0"),
        (BAMD(k=2, delta=0.0), "delta should be above 0"),
        (BARDA(k=2, forget=1.5), "forget should be None or lie above 0"),
        (BAMD(k=2, truncation="none"), "truncation should be 'paper' or 'naive'"),
        (SOFS(k=2, gamma=-2), "gamma should be above 0"),
        (OFS(k=2, eta=2.0, lam=0.5), "eta times lam should be below 1"),
        (L1ARDA(k=2, refit="yes"), "refit should be True or False"),
        (AdaFobos(k=2, passes=0), "passes should be"),
        (BARDA(k=2, budget="mine"), "budget should be"),
        (BARDA(k=2, normalize="l1"), "normalize should be"),
    ],
)
def test_what_makes_no_sense_is_refused(model, complaint):
    X, y = words(n=20)
    with pytest.raises(ShortlistError, match=complaint):
        model.fit(X, y)
