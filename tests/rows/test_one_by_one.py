"""learn_one and predict_one: examples as dictionaries."""

import pickle

import numpy as np
import pytest

from shortlist import BAMD, BARDA, OFS, DataError, ShortlistError
from shortlist.sources.mappings import MappingSource


def mails(n=400, seed=0):
    """Words of mails and whether they are spam."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        y = bool(rng.random() < 0.5)
        x = {f"word{i}": 1.0 for i in rng.integers(0, 50, 5)}
        yield {**x, "cheap" if y else "meeting": 2.0}, y


@pytest.mark.parametrize("estimator", [BARDA, BAMD, OFS])
def test_a_stream_of_dictionaries_is_learned_by_name(estimator):
    model = estimator(k=2, loss="logistic")
    hits = 0
    for i, (x, y) in enumerate(mails()):
        if i:
            hits += model.predict_one(x) == y
        assert model.learn_one(x, y) is model
    assert hits > 300
    if estimator is BARDA:
        assert sorted(model.shortlist_.names) == ["cheap", "meeting"]
    p = model.predict_proba_one({"cheap": 1.0})
    assert p[True] > 0.5
    assert sum(p.values()) == pytest.approx(1.0)


def test_it_is_what_partial_fit_learns():
    rows = list(mails(60))
    names = list(dict.fromkeys(name for x, _ in rows for name in x))
    X = np.array([[x.get(name, 0.0) for name in names] for x, _ in rows])
    y = np.array([label for _, label in rows])
    table = BARDA(k=3).partial_fit(X, y)
    model = BARDA(k=3)
    for x, label in rows:
        model.learn_one({name: x[name] for name in names if name in x}, label)
    assert [f"x{names.index(n)}" for n in model.shortlist_.names] == list(
        table.shortlist_.names
    )
    np.testing.assert_array_equal(model.shortlist_.weights, table.shortlist_.weights)
    predicted = [model.predict_one(x) for x, _ in rows]
    assert predicted == table.predict(X).tolist()


def test_the_result_is_up_to_date_whenever_it_is_asked_for():
    model = BARDA(k=2)
    for i, (x, y) in enumerate(mails(30)):
        model.learn_one(x, y)
        if i % 10 == 3:
            assert model.shortlist_.n_examples == i + 1
    again = pickle.loads(pickle.dumps(model))
    assert again.shortlist_ == model.shortlist_
    assert again.learn_one({"cheap": 1.0}, True).shortlist_.n_examples == 31


def test_labels_may_be_words_or_numbers():
    model = BARDA(k=2)
    model.learn_one({"a": 1.0}, "dog", classes=["cat", "dog", "cow"])
    for _ in range(30):
        model.learn_one({"a": 1.0}, "dog").learn_one({"b": 1.0}, "cow")
        model.learn_one({"c": 1.0}, "cat")
    assert [model.predict_one({n: 1.0}) for n in "abc"] == ["dog", "cow", "cat"]
    numbers = BARDA(k=1, normalize=None)
    for i in range(600):
        numbers.learn_one({"a": float(i % 3)}, 5.0 * (i % 3))
    assert numbers.predict_one({"a": 2.0}) == pytest.approx(10.0, abs=2.5)
    with pytest.raises(AttributeError, match="has no probabilities"):
        numbers.predict_proba_one({"a": 2.0})


def test_a_fitted_table_predicts_dictionaries_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 1] > 0
    fitted = BARDA(k=2).fit(X, y)
    rows = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in X[:20]]
    assert [fitted.predict_one(r) for r in rows] == fitted.predict(X[:20]).tolist()


def test_weights_of_examples_count():
    heavy, often = BAMD(k=1, normalize=None), BAMD(k=1, normalize=None)
    for model in (heavy, often):
        model.learn_one({"a": 1.0}, True, w=0.0)
    assert heavy._state.target.classes == (False, True)
    heavy.learn_one({"a": 1.0}, True, w=2.0)
    often.learn_one({"a": 1.0}, True)
    assert heavy.shortlist_.trace["loss"] == often.shortlist_.trace["loss"]
    assert heavy._state.model.state.totals[1] == 2.0


@pytest.mark.parametrize(
    ("x", "y", "complaint"),
    [
        ({"a": [1.0]}, True, "feature 'a': expected a finite number or text, got"),
        ({"a": [1.0], "b": 2.0}, True, "feature 'a': expected a finite number or text"),
        ({"a": float("nan")}, True, "feature 'a': expected a finite number or text"),
        ({"a": 10**400}, True, "feature 'a': expected a finite number or text, got 1"),
        ({"1": 1.0, 1: 2.0}, True, "feature '1' comes twice"),
        ({"a": "b", "a=b": 1.0}, True, "feature 'a=b' comes twice"),
        ({"a": None}, True, "feature 'a': expected a finite number or text, got None"),
        ([1.0, 2.0], True, "expected a mapping of names to values, got list"),
        ({"a": 1.0}, ["True"], "expected one of the labels False, True, got"),
        ({"a": 1.0}, "maybe", "expected one of the labels False, True, got 'maybe'"),
    ],
)
def test_bad_examples_are_refused_and_change_nothing(x, y, complaint):
    model = BARDA(k=1).learn_one({"a": 1.0}, True)
    before = model.shortlist_
    with pytest.raises(DataError, match=complaint):
        model.learn_one(x, y)
    assert model.shortlist_ == before


def test_classes_must_be_known_in_time_and_tables_do_not_mix():
    with pytest.raises(ShortlistError, match="expected classes= in the first call"):
        BARDA(k=1).learn_one({"a": 1.0}, 1)
    with pytest.raises(ShortlistError, match="w should be at least 0"):
        BARDA(k=1).learn_one({"a": 1.0}, True, w=-1)
    fitted = BARDA(k=1).partial_fit([[1.0], [0.0]], [0, 1])
    with pytest.raises(ShortlistError, match="cannot go on from partial_fit"):
        fitted.learn_one({"a": 1.0}, True)
    model = BARDA(k=1).learn_one({"a": 1.0}, True)
    model.fit([[1.0], [0.0], [1.0]], [0, 1, 0])
    assert model.shortlist_.names == ("x0",)


def people(n=300, seed=0):
    """Some are told by a word, some by a number, and not all keys are there."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        old, town = bool(rng.random() < 0.5), str(rng.choice(["Bonn", "Rome", "Oslo"]))
        x = {"town": town, "age": 0.1 + old, 7: int(rng.integers(3)), "new": True}
        yield {key: x[key] for key in x if rng.random() < 0.9}, (town == "Rome") or old


def test_text_makes_a_feature_of_each_value():
    model, spelled = BARDA(k=2), BARDA(k=2)
    for x, y in people():
        model.learn_one(x, y)
        numbers = {key: value for key, value in x.items() if key != "town"}
        town = {f"town={x['town']}": 1.0} if "town" in x else {}
        # in the order of keys: numbers go to features as they come
        spelled.learn_one({**town, **numbers}, y)
        assert model.predict_one(x) == spelled.predict_one({**town, **numbers})
    assert set(model.shortlist_.names) == {"town=Rome", "age"}
    assert model.shortlist_ == spelled.shortlist_
    table = BARDA(k=2).fit_source(MappingSource(list(people())))
    assert set(table.shortlist_.names) == {"town=Rome", "age"}
    assert table.predict_one({"town": "Rome", "age": 0.1}) == 1


def test_a_stream_may_begin_with_a_prediction():
    model = BARDA(k=2, loss="logistic")
    assert (
        model._supervised
    )  # what a pipeline of river asks before it hands labels over
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, True)
    assert model.predict_one({"a": 1.0}) is True
    assert model.predict_one({"b": 1.0, 5: "c"}) in (True, False)


def test_tables_and_dictionaries_do_not_mix():
    model = BARDA(k=1).learn_one({"a": 1.0}, True)
    before = model.shortlist_
    with pytest.raises(ShortlistError, match="partial_fit cannot go on from learn_one"):
        model.partial_fit([[1.0], [0.0]], [False, True])
    assert model.shortlist_ == before


def test_classes_stay_what_they_were():
    model = BARDA(k=1)
    with pytest.raises(DataError, match="expected one of the labels 0, 1, got 2"):
        model.learn_one({"a": 1.0}, 2, classes=[0, 1])
    with pytest.raises(DataError, match="expected a finite number or text"):
        model.learn_one({"a": None}, 1, classes=[0, 1])
    assert model.predict_one({"a": 1.0}) is None  # nothing has begun
    model.learn_one({"a": 1.0}, 2, classes=np.array([2, 0]))
    assert model.learn_one({"a": 1.0}, 0, classes=[0, 2]) is model
    with pytest.raises(ShortlistError, match="classes should stay"):
        model.learn_one({"a": 1.0}, 0, classes=[0, 1, 2])
    assert type(model.predict_one({"a": 1.0})) is int
    assert model.shortlist_.n_examples == 2


def test_settings_are_those_of_the_first_call():
    model = BARDA(k=1, eta=0.3).learn_one({"a": 1.0}, True)
    twin = BARDA(k=1, eta=0.3).learn_one({"a": 1.0}, True).learn_one({"a": 1.0}, True)
    model.set_params(eta=5.0).learn_one({"a": 1.0}, True)
    assert model.shortlist_.params["eta"] == 0.3
    assert model.shortlist_ == twin.shortlist_


def test_features_left_out_and_asked_for_by_name():
    model = BARDA(k=2, always=["new"], never=["town=Rome"])
    for x, y in people():
        model.learn_one(x, y)
    assert "new" in model.shortlist_.names
    assert "town=Rome" not in model.shortlist_.names
    plain = model.predict_one({"age": 1.0})
    assert plain is model.predict_one({"age": 1.0, "town": "Rome"})
