"""Feature hashing: against a transcription, as an estimator, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference.hashed import SlowHashed
from reference.sketch import SlowSketch, random_block, rows_of, split
from shortlist import HashedSGD, LibsvmSource, ShortlistError
from shortlist._preparing import AS_IT_IS
from shortlist._targets import Target
from shortlist.losses import Logistic, Poisson, Softmax, Squared
from shortlist.sketch._hashed import HashedModel, HashedRule

LOSSES = [Logistic(), Squared(), Softmax(), Poisson()]
TARGETS = {"sign": (-1, 1), "class": (0, 1, 2), "real": None, "count": None}
quick = settings(max_examples=10, deadline=None)
WIDTH = 23


def target_for(loss):
    return Target(loss, TARGETS[loss.target], np.empty(0))


@parametrize_with_checks(
    [HashedSGD(loss=loss) for loss in ("auto", "logistic", "squared")]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@quick
@given(st.integers(0, 2**32), st.lists(st.integers(1, 40)))
def test_it_equals_the_transcription_in_any_blocks(loss, seed, cuts):
    target, block = target_for(loss), random_block(seed, loss.target)
    rule = HashedRule(WIDTH * target.n_margins, 5)
    state = rule.create(target, None)
    for part in split(block, cuts):
        rule.learn(state, target, part)
    bias_rate = 0.3 if target.classes else 0.0
    sketch = SlowSketch(state.sketch.keys, WIDTH, target.n_margins)
    slow = SlowHashed(
        sketch,
        target.n_margins,
        k=0,
        learning_rate=1.0,
        bias_rate=bias_rate,
        damped=True,
    )
    slow.learn(loss, block)
    tolerance = {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(state.sketch.table, sketch.table, **tolerance)
    np.testing.assert_allclose(state.bias, slow.bias, **tolerance)
    model = HashedModel(loss, target.classes, state, AS_IT_IS)
    expected = [
        [
            slow.bias[c]
            + sum(sketch.estimate(i, c) * v for i, v in zip(ids, x, strict=True))
            for c in range(target.n_margins)
        ]
        for ids, x, _, _ in rows_of(block)
    ]
    np.testing.assert_allclose(model.margins(block), expected, rtol=1e-3, atol=1e-3)


def table(n=600, p=30):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 3] - X[:, 8] > 0, "yes", "no")


def test_it_predicts_and_does_not_pretend_to_select():
    X, y = table()
    model = HashedSGD(passes=3).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.85
    assert model.predict_proba(X).shape == (600, 2)
    for name in ("shortlist_", "transform", "get_support", "coef_", "k"):
        assert not hasattr(model, name), name


def test_asked_for_features_it_says_why_there_are_none():
    target = target_for(Logistic())
    rule = HashedRule(1000, 0)
    with pytest.raises(ShortlistError, match="keeps no names"):
        rule.found(rule.create(target, None), target, np.empty(0, np.uint64))


def test_a_model_stays_as_it_was_while_learning_goes_on():
    X, y = table()
    model = HashedSGD().partial_fit(X[:300], y[:300])
    first = model.model_
    before = model.predict_proba(X)
    model.partial_fit(X[300:], y[300:])
    assert not np.allclose(model.predict_proba(X), before)
    model.model_ = first
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_text_is_learned_and_scored(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} {i % 2 + 7}:1 {100 + i}:1\n" for i in range(400)))
    model = HashedSGD(memory="1MB").fit_source(LibsvmSource(path))
    assert model.score(LibsvmSource(path)) == 1.0
    assert model.model_.n_buckets == 250_000


def test_fewer_buckets_predict_worse():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    y = X @ rng.normal(size=60)
    many, few = (
        HashedSGD(memory=buckets, passes=5).fit(X, y).score(X, y)
        for buckets in (4000, 12)
    )
    assert many > 0.95
    assert few < 0.5


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (HashedSGD(memory="2B"), "too small"),
        (HashedSGD(passes=0), "passes should be"),
        (HashedSGD(loss="cubic"), "loss should be one of"),
        (HashedSGD(normalize="l1"), "normalize should be"),
    ],
)
def test_what_makes_no_sense_is_refused(model, complaint):
    with pytest.raises(ShortlistError, match=complaint):
        model.fit(*table(n=30))
