"""Rows are prepared alike for learning and for predicting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.sketch import random_block
from shortlist import ArraySource, Mission, Shortlist, ShortlistError
from shortlist._preparing import Preparing, preparing_of
from shortlist._scoring import evaluate
from shortlist.kernels.repeats import added_up
from shortlist.sources import LibsvmSource, VwSource


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([None, "l2"]))
def test_values_are_what_numpy_makes_of_them(seed, log1p, normalize):
    block = added_up(random_block(seed))
    before = block.values.copy()
    ready = Preparing(log1p, normalize).apply(block)
    np.testing.assert_array_equal(block.values, before)
    for i in range(block.n_rows):
        row = slice(block.indptr[i], block.indptr[i + 1])
        x = before[row]
        if log1p:
            x = np.sign(x) * np.log1p(np.abs(x))
        if normalize and x.any():
            x = x / np.linalg.norm(x)
        np.testing.assert_allclose(ready.values[row], x, rtol=1e-12)


@pytest.mark.parametrize("how", [{}, {"log1p": True}, {"normalize": "l2"}])
@pytest.mark.parametrize("recipe", ["refit", "newton", "paper"])
def test_a_feature_in_several_parts_is_that_feature_once(tmp_path, how, recipe):
    draw = np.random.default_rng(0)
    once, parts = [], []
    for _ in range(200):
        counts = dict(zip("abcd", draw.integers(0, 6, 4).tolist(), strict=True))
        label = 1 if counts["a"] > counts["b"] else -1
        words = [word for word, n in counts.items() for _ in range(n)]
        some = [f"{word}:{n}" for word, n in counts.items() if n]
        once.append(f"{label} | {' '.join(some)}\n")
        parts.append(f"{label} | {' '.join(words)}\n")
    (tmp_path / "once.vw").write_text("".join(once))
    (tmp_path / "parts.vw").write_text("".join(parts))
    sources = [VwSource(tmp_path / f"{name}.vw") for name in ("once", "parts")]
    weights = []
    for source in sources:
        fitted = Mission(2, recipe=recipe, **how).fit_source(source).shortlist_
        weights.append(dict(zip(fitted.names, fitted.weights, strict=True)))
        scores = [evaluate(fitted, one) for one in sources]
        assert scores[0].loss == pytest.approx(scores[1].loss)
    assert weights[0].keys() == weights[1].keys()
    for word, weight in weights[0].items():
        assert weights[1][word] == pytest.approx(weight, rel=1e-5)


def test_ids_that_repeat_in_libsvm_text_or_in_an_array_are_one_feature(tmp_path):
    (tmp_path / "once.svm").write_text("1 1:3\n-1 2:3\n" * 20)
    (tmp_path / "parts.svm").write_text("1 1:1 1:1 1:1\n-1 2:3\n" * 20)
    fits = [
        Mission(1).fit_source(LibsvmSource(tmp_path / f"{name}.svm")).shortlist_
        for name in ("once", "parts")
    ]
    assert fits[0].names == fits[1].names
    np.testing.assert_array_equal(fits[0].weights, fits[1].weights)
    indptr = np.cumsum([0, *([3, 1] * 20)])
    parts = np.tile([1.0, 1.0, 1.0, 3.0], 20), np.tile([0, 0, 0, 1], 20), indptr
    X, y = sparse.csr_array(parts, shape=(40, 2)), np.tile([1, -1], 20)
    whole = np.tile([[3.0, 0.0], [0.0, 3.0]], (20, 1))
    learned = [Mission(1).fit(table, y).shortlist_.weights for table in (X, whole)]
    np.testing.assert_array_equal(*learned)


def counts(n=2000, p=300):
    """Texts of very different lengths; four words tell the classes apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    rate = np.full((n, p), 0.02)
    rate[:, :2] += 0.1 * y[:, None]
    rate[:, 2:4] += 0.1 * (1 - y[:, None])
    return sparse.csr_array(rng.poisson(rate * rng.lognormal(0, 1.5, n)[:, None])), y


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_predictions_come_from_rows_prepared_like_those_learned_from(how, tmp_path):
    X, y = counts()
    raw = Mission(k=4, log1p=True, normalize="l2")
    getattr(raw, how)(X, y)
    L = X.astype(float)
    L.data = np.log1p(L.data)
    L = sparse.csr_array(L / np.maximum(sparse.linalg.norm(L, axis=1), 1e-12)[:, None])
    ready = getattr(Mission(k=4), how)(L, y)
    np.testing.assert_array_equal(
        raw.get_support(indices=True), ready.get_support(indices=True)
    )
    np.testing.assert_allclose(
        raw.decision_function(X), ready.decision_function(L), atol=1e-6
    )
    raw.shortlist_.save(tmp_path / "m")
    again = Shortlist.load(tmp_path / "m")
    assert preparing_of(again.params) == Preparing(True, "l2")
    assert evaluate(again, ArraySource(X, y)).value == raw.score(X, y)


def test_nothing_done_leaves_no_trace():
    X, y = counts(n=200)
    assert "log1p" not in Mission(k=4).fit(X, y).shortlist_.params


@pytest.mark.parametrize("settings", [{"normalize": "l1"}, {"log1p": "yes"}])
def test_other_settings_are_refused(settings):
    with pytest.raises(ShortlistError, match=next(iter(settings))):
        Mission(k=2, **settings).fit(*counts(n=50))


def test_the_command_line_prepares_too(tmp_path):
    from click.testing import CliRunner

    from shortlist.cli import cli

    X, y = counts(n=1000)
    path = tmp_path / "counts.svm"
    lines = []
    for i in range(1000):
        row = X[[i]]
        pairs = zip(row.indices.tolist(), row.data.tolist(), strict=True)
        lines.append(f"{y[i]} " + " ".join(f"{j}:{v}" for j, v in pairs))
    path.write_text("\n".join(lines) + "\n")
    out = tmp_path / "m"
    words = ["select", path, "-k", 4, "--log1p", "--normalize", "l2", "-o", out]
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == 0, result.stderr
    saved = Shortlist.load(out)
    assert preparing_of(saved.params) == Preparing(True, "l2")
    assert "--log1p --normalize l2" in saved.params["command"]
