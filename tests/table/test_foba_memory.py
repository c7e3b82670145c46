"""Whatever holds X: the same result, and no copy of it."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from reference.foba import correlated
from shortlist import FoBa, FoBaCV
from shortlist.objectives import GramObjective, LinearObjective
from shortlist.table._foba import Settings, Units, foba


def mapped(X, folder):
    """X as a memory map, in the order that it has."""
    path = folder / "X.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


FORMS = {
    "C": lambda X, _: np.ascontiguousarray(X),
    "Fortran": lambda X, _: np.asfortranarray(X),
    "strided": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X, _: X[:, ::-1].copy()[:, ::-1],
    "float32": lambda X, _: X.astype(np.float32),
    "CSR": lambda X, _: sparse.csr_array(X),
    "CSC": lambda X, _: sparse.csc_array(X),
    "memory map": mapped,
    "Fortran memory map": lambda X, folder: mapped(np.asfortranarray(X), folder),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_whatever_holds_x_the_result_is_the_same(form, loss, tmp_path):
    X, y, _ = correlated(2, p=30, s=5)
    X = np.where(np.abs(X) > 0.5 * X.std(axis=0), X, 0.0)
    X = X.astype(np.float32).astype(np.float64)  # the same numbers in either precision
    y = y if loss == "squared" else np.sign(y)
    plain = FoBa(5, loss=loss).fit(X, y)
    other = FoBa(5, loss=loss).fit(FORMS[form](X, tmp_path), y)
    assert plain.shortlist_.names == other.shortlist_.names
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(other.intercept_, plain.intercept_, rtol=1e-7)
    for k in range(1, 6):
        assert plain.at(k).names == other.at(k).names


@pytest.fixture(scope="module")
def large():
    """32 MB in float64, 16 in float32: more than the selectors may take."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4000))
    return X, X[:, 3] - X[:, 70] + 0.5 * rng.normal(size=1000)


def extra_memory(call):
    """Bytes that were allocated at most at a time during a call, and its result."""
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("loss", "criterion", "order", "dtype"),
    [
        ("squared", "gradient", "C", np.float64),
        ("squared", "gradient", "F", np.float64),
        ("squared", "gradient", "C", np.float32),
        ("squared", "gradient", "F", np.float32),
        ("logistic", "gradient", "C", np.float32),
        ("logistic", "gradient", "F", np.float64),
        ("logistic", "objective", "F", np.float32),
    ],
)
def test_x_is_never_copied_whole(large, tmp_path, loss, criterion, order, dtype):
    X, y = large
    y = y if loss == "squared" else np.sign(y)
    small = FoBa(2, loss=loss, criterion=criterion).fit(
        X[:50, :50].astype(dtype), y[:50]
    )
    X = mapped(np.asarray(X, dtype, order=order), tmp_path)
    extra, fitted = extra_memory(lambda: small.fit(X, y))
    assert fitted.get_support(indices=True).tolist() == [3, 70]
    assert extra < 10e6, f"{extra:,} bytes"


@pytest.fixture(scope="module")
def thin(large):
    """The same table without its small numbers: 24 MB as a sparse one."""
    X, y = large
    return sparse.csr_array(np.where(np.abs(X) > 0.67, X, 0.0)), y


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sparse_x_is_never_copied_whole(thin, form, loss, dtype):
    X, y = thin
    y = y if loss == "squared" else np.sign(y)
    X = X.astype(dtype).asformat(form)
    small = FoBa(2, loss=loss).fit(X[:50, :50], y[:50])
    extra, fitted = extra_memory(lambda: small.fit(X, y))
    assert fitted.get_support(indices=True).tolist() == [3, 70]
    assert extra < 8e6, f"{extra:,} bytes"
    extra, _ = extra_memory(lambda: fitted.predict(X))
    assert extra < 8e6, f"{extra:,} bytes"


@pytest.mark.parametrize("form", ["C", "F", "csr", "csc"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_folds_copy_nothing_either(large, thin, tmp_path, form, loss):
    X, y = large if form in "CF" else thin
    y = y if loss == "squared" else np.sign(y)
    small = FoBaCV(2, loss=loss, cv=2).fit(X[:50, :50], y[:50])
    dense = form in "CF"
    X = mapped(np.asarray(X, order=form), tmp_path) if dense else X.asformat(form)
    extra, fitted = extra_memory(lambda: small.fit(X, y))
    assert fitted.get_support(indices=True).tolist() == [3, 70]
    assert extra < 12e6, f"{extra:,} bytes"


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_learn_as_if_the_rows_held_out_were_not_there(loss, weighted):
    X, y, _ = correlated(1, n=90, p=15, s=4)
    if loss != "squared":
        y = np.digitize(y, [0.0] if loss == "logistic" else [-2.0, 2.0])
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, size=90).astype(float) if weighted else None
    folds = [
        (np.flatnonzero(rng.random(90) < 0.7), np.arange(i, 90, 5)) for i in (0, 1)
    ]
    fitted = FoBaCV(4, loss=loss, cv=folds).fit(X, y, weight)
    for i, (train, test) in enumerate(folds):
        own = None if weight is None else weight[train]
        part = FoBa(4, loss=loss).fit(X[train], y[train], own)
        held = np.ones(90) if weight is None else weight
        for size, loss_there in zip(
            fitted.cv_sizes_, fitted.cv_losses_[i], strict=True
        ):
            part._publish(part.at(int(size)))
            mean = np.average(
                losses_of(part, loss, X[test], y[test]), weights=held[test]
            )
            np.testing.assert_allclose(loss_there, mean, rtol=1e-7)


def losses_of(fitted, loss, X, y):
    """Loss of each row."""
    if loss == "squared":
        return 0.5 * (fitted.predict(X) - y) ** 2
    chances = fitted.predict_proba(X)
    return -np.log(chances[np.arange(len(y)), np.searchsorted(fitted.classes_, y)])


def test_least_squares_of_a_wide_sparse_table_take_memory_by_the_table():
    rng = np.random.default_rng(0)
    n, p = 500, 60_000
    X = sparse.random_array((n, p), density=2 / n, rng=rng, format="csr")
    X = sparse.hstack([sparse.csr_array(rng.normal(size=(n, 10))), X], format="csr")
    y = X[:, :10] @ (1.0 + rng.random(10)) + 0.1 * rng.normal(size=n)
    small = FoBa(12).fit(X[:, :50], y)
    extra, wide = extra_memory(lambda: small.fit(X, y))
    assert extra < 8 * (X.data.nbytes + X.indices.nbytes), f"{extra:,} bytes"
    problem = GramObjective(X, y)
    path = foba(problem, Units(X.shape[1]), Settings(12))
    for k in (5, 10, 12):
        assert wide.at(k).support.tolist() == list(path.best[k].units)


def test_predictions_look_at_the_chosen_columns_only(large):
    X, y = large
    fitted = FoBa(2).fit(X, y)
    expected = X[:, [3, 70]] @ fitted.coef_[[3, 70]] + fitted.intercept_
    for form in (np.asarray, np.asfortranarray):
        table = form(X)
        extra, predicted = extra_memory(lambda: fitted.predict(table))  # noqa: B023
        np.testing.assert_allclose(predicted, expected, rtol=1e-12)
        assert extra < 1e6, f"{extra:,} bytes"
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(np.where(np.arange(4000) == 5, np.nan, X[:3]))


class Counted(np.ndarray):
    """A table that counts how many of its numbers are taken out at a time."""

    most = 0

    def __getitem__(self, key):
        out = super().__getitem__(key)
        if isinstance(out, np.ndarray) and not np.shares_memory(out, self):
            Counted.most = max(Counted.most, out.size)
        return np.asarray(out)

    def astype(self, *args, **options):
        Counted.most = max(Counted.most, self.size)
        return np.asarray(self).astype(*args, **options)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_only_columns_of_candidates_are_taken_out(large, loss):
    X, y = large
    Counted.most = 0
    if loss == "squared":
        Q = GramObjective(X.view(Counted), y)
    else:
        Q = LinearObjective(loss, X.view(Counted), np.sign(y), l2=1e-3)
    path = foba(Q, Units(4000), Settings(4))
    assert {3, 70} <= set(path.best[4].units)
    assert 0 < Counted.most <= 32 * len(X)


def test_least_squares_reads_x_less_often_than_it_steps(large, monkeypatch):
    """Gram columns come in blocks: later steps find theirs there."""
    from shortlist.objectives import gram

    reads, real = [], gram.transposed_product
    monkeypatch.setattr(
        gram, "transposed_product", lambda X, V: reads.append(V.shape[1]) or real(X, V)
    )
    X, y = large
    path = foba(GramObjective(X, y), Units(4000), Settings(20))
    assert path.n_forward >= 24
    assert len(reads) <= 8
    assert max(reads) == gram.BLOCK
