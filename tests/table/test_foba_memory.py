"""Whatever holds X: the same result, and no copy of it."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from reference.foba import correlated
from shortlist import FoBa
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
