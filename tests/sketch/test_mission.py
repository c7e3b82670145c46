"""Mission through the whole house: sources, engine, estimator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mission_samples import PassingRows, sparse_regression, sparse_stream
from shortlist import (
    ArraySource,
    DataError,
    FrameSource,
    LibsvmSource,
    Mission,
    ShortlistError,
)
from shortlist._scoring import evaluate
from shortlist._steps import LOSS, N_TOTALS, WEIGHT
from shortlist._trace import Trace
from shortlist.engines import run
from shortlist.losses import Huber
from shortlist.sketch._mission import mission


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.integers(1, 12),
    cuts=st.lists(st.integers(1, 80), min_size=1, max_size=6),
    n_classes=st.sampled_from([2, 3]),
    cells=st.sampled_from([120, 1200, 12000]),
)
def test_the_budget_holds_after_every_partial_fit(seed, k, cuts, n_classes, cells):
    X, y = sparse_stream(seed, n=sum(cuts), p=300, n_classes=n_classes)
    selector = Mission(k, loss="logistic", memory=cells)
    begin = 0
    for size in cuts:
        rows = slice(begin, begin + size)
        selector.partial_fit(X[rows], y[rows], classes=range(n_classes))
        begin += size
        for weights in selector.coef_:
            assert np.count_nonzero(weights) <= k


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 1000),
    block_rows=st.integers(1, 700),
    recipe=st.sampled_from(["refit", "newton"]),
    n_classes=st.sampled_from([2, 3]),
)
def test_the_block_size_does_not_change_a_bit(seed, block_rows, recipe, n_classes):
    X, y = sparse_stream(seed, n_classes=n_classes)
    algorithm = mission(5, recipe=recipe, memory=30_000, seed=seed)
    whole = run(algorithm, ArraySource(X, y, block_rows=4096))
    parts = run(algorithm, ArraySource(X, y, block_rows=block_rows))
    assert parts == whole


@pytest.mark.parametrize("recipe", ["refit", "newton"])
def test_the_block_size_of_text_does_not_change_a_bit(tmp_path, recipe):
    X, y = sparse_stream(2, n=300)
    path = tmp_path / "rows.svm"
    with path.open("w") as out:
        for i in range(300):
            row = X[[i]].tocoo()
            pairs = zip(row.coords[1], row.data, strict=True)
            out.write(f"{y[i]} " + " ".join(f"{j}:{v}" for j, v in pairs) + "\n")
    algorithm = mission(5, recipe=recipe, memory=30_000)
    results = [
        run(algorithm, LibsvmSource(path, block_bytes=size))
        for size in (1, 999, 1 << 20)
    ]
    assert results[0] == results[1] == results[2]


def test_a_frame_with_words_is_selected_from_and_predicted_by_name():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    city = rng.choice(["Lima", "Oslo", "Pune"], 300)
    frame = pandas.DataFrame({"age": rng.normal(size=300), "city": city})
    frame["moved"] = np.where((city == "Oslo") ^ (rng.random(300) < 0.05), "yes", "no")
    fitted = Mission(k=1).fit_source(FrameSource(frame, target="moved"))
    assert fitted.shortlist_.names == ("city=Oslo",)
    shuffled = frame[["city", "moved", "age"]].iloc[::-1]
    predicted = fitted.predict(FrameSource(shuffled, target="moved"))
    assert np.mean(predicted == shuffled["moved"]) > 0.9


def test_partial_fit_in_one_call_or_many_gives_the_same_bits():
    X, y = sparse_stream(5)
    once = Mission(5, loss="logistic").partial_fit(X, y, classes=[0, 1])
    often = Mission(5, loss="logistic")
    for i in range(0, 600, 7):
        often.partial_fit(X[i : i + 7], y[i : i + 7], classes=[0, 1])
    assert often.shortlist_ == once.shortlist_


@pytest.mark.parametrize("recipe", ["refit", "newton"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_planted_features_are_found(recipe, n_classes):
    X, y = sparse_stream(1, n=3000, n_true=6, n_classes=n_classes)
    fitted = Mission(6, recipe=recipe).fit(X, y)
    found = fitted.shortlist_.ids[fitted.shortlist_.margin == 0]
    assert len(set(found.tolist()) & set(range(6))) >= 5
    assert fitted.score(X, y) > 0.75


def near_copies(seed, n=2000, n_classes=2, each=14, noise=20_000):
    """Near-copies in most rows of a class, and in none of any other; noise; lost rows."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_classes + 1, n)
    lost = group == n_classes  # these rows have no sign of their class
    y = np.where(lost, rng.integers(0, n_classes, n), group)
    seen = rng.random(n) < 0.6
    told = [
        ((group == c) & seen)[:, None] & (rng.random((n, each)) < 0.95)
        for c in range(n_classes)
    ]
    told = sparse.csr_array(np.hstack(told).astype(float))
    rows, columns = np.repeat(np.arange(n), 30), rng.integers(0, noise, 30 * n)
    others = sparse.csr_array((np.ones(30 * n), (rows, columns)), shape=(n, noise))
    return sparse.hstack([told, others], format="csr"), y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_copies_that_tell_classes_apart_for_sure_are_not_taken_for_noise(n_classes):
    X, y = near_copies(0, n_classes=n_classes)
    chosen = Mission(8, memory="1MB", recipe="refit").fit(X, y).shortlist_
    # Of rows that none of the copies tells of, a column of noise may tell by chance.
    is_noise = chosen.ids >= 14 * n_classes
    assert np.bincount(chosen.margin, is_noise).max() <= 1


def test_a_regression_finds_its_features_whatever_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2000))
    y = X[:, :3] @ [1.0, -2.0, 3.0] + 0.1 * rng.normal(size=400)
    small, large = Mission(3).fit(X, y), Mission(3).fit(X, 1e6 * y + 1e8)
    assert small.get_support(indices=True).tolist() == [0, 1, 2]
    assert large.get_support(indices=True).tolist() == [0, 1, 2]
    np.testing.assert_allclose(large.coef_, 1e6 * small.coef_, rtol=1e-6, atol=1)
    assert large.score(X, 1e6 * y + 1e8) > 0.99


def test_a_refit_of_kept_rows_equals_scikit_learn_on_the_same_features():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 50))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 3] + X[:, 8]))
    fitted = Mission(2).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [3, 8]
    ridge = 0.2 * np.mean(np.sum(X[:, [3, 8]] ** 2, axis=1))
    peer = LogisticRegression(C=1 / ridge, tol=1e-10).fit(X[:, [3, 8]], y)
    np.testing.assert_allclose(fitted.coef_[:, [3, 8]], peer.coef_, rtol=1e-4)
    np.testing.assert_allclose(fitted.intercept_, peer.intercept_, rtol=1e-3)


def test_a_shared_budget_counts_distinct_features():
    X, y = sparse_stream(3, n_classes=4)
    shared = Mission(3, budget="shared").fit(X, y).shortlist_
    apart = Mission(3).fit(X, y).shortlist_
    assert shared.n_selected == 3
    assert apart.n_selected > 3
    assert max(np.bincount(apart.margin)) == 3


class OneShot:
    """A source that can be read once, like a pipe."""

    def __init__(self, base):
        self._base, self.reiterable, self.name = base, False, "pipe"

    def __getattr__(self, name):
        return getattr(self._base, name)


def test_a_stream_that_passes_once_gets_the_one_pass_recipe():
    X, y = sparse_stream(4)
    fitted = Mission(4).fit_source(OneShot(ArraySource(X, y)))
    assert fitted.shortlist_.params["recipe"] == "newton"
    with pytest.raises(ShortlistError, match="read only once"):
        Mission(4, recipe="refit").fit_source(OneShot(ArraySource(X, y)))


def test_fit_forgets_what_partial_fit_learned():
    X, y = sparse_stream(6)
    fresh = Mission(4).fit(X, y).shortlist_
    used = Mission(4).partial_fit(X[::-1], y[::-1]).fit(X, y)
    assert used.shortlist_ == fresh
    again = used.partial_fit(X, y).shortlist_
    assert again == Mission(4).partial_fit(X, y).shortlist_


def test_the_trace_tells_the_story_of_the_stream():
    X, y = sparse_stream(9, n=4500)
    trace = run(mission(4), ArraySource(X, y)).trace
    assert trace["rows"].tolist() == [1000, 2000, 3000, 4000, 4500]
    assert trace["loss"][-1] < trace["loss"][0]
    assert trace["accuracy"][-1] > 0.6


def test_zero_weight_means_absent():
    X, y = sparse_stream(10)
    weight = (np.arange(600) % 3 > 0).astype(float)
    kept = weight > 0
    weighted = Mission(4).fit(X, y, sample_weight=weight)
    absent = Mission(4).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.coef_, absent.coef_, rtol=1e-8)


def test_a_shortlist_scores_rows_it_has_not_seen():
    X, y = sparse_stream(12, n=2000)
    result = run(mission(4), ArraySource(X[:1500], y[:1500]))
    score = evaluate(result, ArraySource(X[1500:], y[1500:]))
    assert score.metric == "accuracy"
    assert score.n_rows == 500
    assert score.value > score.baseline + 0.1


def test_a_regression_once_decided_stays_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    selector = Mission(2).partial_fit(X[:20], X[:20, 0])
    selector.partial_fit(X[20:22], [1.0, 2.0]).partial_fit(X[22:23], [1.0])
    assert selector.shortlist_.classes is None


def test_a_loss_with_a_small_parameter_can_be_read_back():
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) / 7
    assert np.isfinite(Mission(2, loss=Huber(1e-5)).fit(X, y).predict(X)).all()


def test_progressive_losses_below_zero_are_told():
    totals = np.zeros(N_TOTALS)
    totals[WEIGHT], totals[LOSS] = 10.0, -5.0
    assert Trace(rows=10).arrays(totals, classes=False)["loss"].tolist() == [-0.5]


def test_a_frame_fitted_through_a_source_is_known_by_name():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    y = (frame["c"] > 0).astype(int).to_numpy()
    fitted = Mission(1).fit_source((frame, y))
    assert np.mean(fitted.predict(frame[["d", "c", "b", "a"]]) == y) > 0.95
    assert fitted.transform(frame).shape == (200, 1)


def test_classes_that_come_late_can_be_announced():
    X, y = sparse_stream(14, n=2500)
    order = np.argsort(y, kind="stable")
    rows = (X[order], y[order].astype(float))
    source = PassingRows(*rows, block_rows=300)
    source.reiterable = False
    with pytest.raises(DataError, match="1 class"):
        Mission(4, recipe="newton").fit_source(source)
    assert Mission(4).fit_source(ArraySource(*rows, block_rows=300)).n_features_in_
    again = PassingRows(*rows, block_rows=300)
    given = Mission(4).fit_source(again, classes=[0, 1])
    assert given.score(X, y) > 0.6
    found = Mission(4).fit_source(again)  # what can be read again is looked through
    np.testing.assert_array_equal(found.shortlist_.weights, given.shortlist_.weights)


def test_ids_of_a_source_may_be_given_as_numbers(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text(
        "".join(f"{i % 2} {i % 2 + 7}:1 9:1 {20 + i}:1\n" for i in range(90))
    )
    fitted = Mission(2, always=[9], never=[7]).fit_source(path)
    assert "9" in fitted.shortlist_.names
    assert "7" not in fitted.shortlist_.names


@pytest.mark.parametrize(
    ("loss", "offset", "unit"),
    [
        ("squared", 1e4, 1.0),
        ("squared", 1e9, 1.0),
        ("huber", 100.0, 1.0),
        ("huber", 0.0, 100.0),
        ("epsilon_insensitive", -50.0, 1.0),
    ],
)
def test_one_pass_finds_features_wherever_zero_lies(loss, offset, unit):
    X, margins, planted = sparse_regression()
    model = Mission(k=10, loss=loss, recipe="newton").fit(X, unit * margins + offset)
    assert set(model.shortlist_.ids.tolist()) == planted


@pytest.mark.parametrize("recipe", ["newton", "refit"])
@pytest.mark.parametrize("log_mean", [0.0, 3.0, 6.0])
def test_counts_of_any_size_are_followed(recipe, log_mean):
    X, margins, planted = sparse_regression()
    y = np.random.default_rng(1).poisson(np.exp(0.5 * margins + log_mean))
    model = Mission(k=10, loss="poisson", recipe=recipe).fit(X, y)
    assert set(model.shortlist_.ids.tolist()) == planted
    constant = y.mean() - y * np.log(y.mean())
    assert model.shortlist_.trace["loss"][-1] < constant.mean() + 0.2 * y.mean()


def test_a_held_out_score_far_from_zero_keeps_its_digits():
    X, margins, _ = sparse_regression()
    near, far = (
        evaluate(
            Mission(k=10, loss="squared").fit(X, margins + offset).shortlist_,
            ArraySource(X, margins + offset),
        )
        for offset in (0.0, 1e8)
    )
    assert far.value == pytest.approx(near.value, abs=1e-6)


def test_a_source_is_scored_by_its_own_labels_and_paths_are_sources(tmp_path):
    path = tmp_path / "rows.svm"
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    path.write_text("".join(f"{v > 0:d} 7:{v} {rng.integers(99)}:1\n" for v in x))
    model = Mission(k=1).fit_source(path)
    assert model.score(path) == model.score(LibsvmSource(path)) > 0.95
    assert np.mean(model.predict(str(path)) == (x > 0)) == model.score(path)


def test_a_regression_after_classes_leaves_no_classes():
    X, margins, _ = sparse_regression(n=500)
    model = Mission(k=3).fit(X, margins > 0)
    assert model.classes_.tolist() == [False, True]
    assert not hasattr(model.fit(X, margins), "classes_")


def test_features_of_a_frame_are_counted_from_zero_to_the_last():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    for number in (3, -1):
        with pytest.raises(ShortlistError, match="from 0 to 2"):
            Mission(k=2, always=[number]).fit(X, X["a"] > 0)


@pytest.mark.parametrize("recipe", ["refit", "newton", "shards"])
@pytest.mark.parametrize("size", [1e-15, 1e-12, 1e10, 1e15])
def test_features_of_any_size_are_found_in_units_of_their_own(recipe, size):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    X = np.column_stack([rng.normal(size=(1500, 3)), size * y])
    fitted = Mission(1, recipe=recipe, scale="max_abs").fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [3]


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_intercept_of_one_pass_suits_the_features_that_stay(class_weight):
    # 20 words, one a row; five of them mean yes, and three places are to be had
    rng = np.random.default_rng(0)
    word = rng.integers(0, 20, 3000)
    X, y = sparse.csr_array(np.eye(20)[word]), word < 5
    newton = Mission(3, recipe="newton", class_weight=class_weight).fit(X, y)
    exact = Mission(3, class_weight=class_weight).fit(X, y)
    assert newton.score(X, y) == pytest.approx(exact.score(X, y), abs=0.02)
    assert abs(newton.intercept_[0] - exact.intercept_[0]) < 0.6


def test_counts_do_not_diverge_in_the_recipe_of_the_paper():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    y = rng.poisson(np.exp(4.6 + 0.3 * X[:, 0] - 0.2 * X[:, 1]))
    fitted = Mission(2, loss="poisson", recipe="paper").fit(X, y)
    assert np.abs(fitted.shortlist_.weights).max() < 1.0
    assert fitted.score(X, y) > 0.5
