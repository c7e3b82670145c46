"""A summary is JSON, tells what the shortlist tells, and leaves out what it does not."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from report_samples import NASTY, SAMPLES, path, several_classes, shortlist
from shortlist import (
    BARDA,
    FoBa,
    Mission,
    OnlineSubstitution,
    SensorSelector,
    select,
    stability,
)
from shortlist._registry import selectors
from shortlist.report import summary
from shortlist.report._budget import places
from shortlist.report._course import MOST_MEMBERS, membership_of
from shortlist.report._words import NO_SETTINGS, SETTINGS, loss_in_words, settings

PARTS = {"budget", "stream", "iterations", "membership", "exchanges", "holdout"}
PARTS |= {"stability", "substitutes"}


@pytest.mark.parametrize("kind", SAMPLES)
def test_it_is_json_and_the_same_after_saving(kind, tmp_path):
    made = SAMPLES[kind]()
    told = summary(made)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    made.save(tmp_path / "model")
    assert summary(type(made).load(tmp_path / "model")) == told


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("binary", {"budget", "stream"}),
        ("several_classes", {"budget", "stream"}),
        ("path", {"budget"}),
        ("members", {"budget", "membership"}),
        ("exchanges", {"budget", "iterations", "exchanges"}),
        ("scores_only", {"budget"}),
        ("outputs", {"budget", "iterations"}),
        ("nothing", set()),
        ("with_stability", {"budget"}),
        ("with_second_look", {"budget", "stability", "substitutes"}),
        ("without_substitutes", {"budget", "substitutes"}),
    ],
)
def test_parts_that_nothing_is_known_of_are_left_out(kind, parts):
    assert PARTS & summary(SAMPLES[kind]()).keys() == parts


def test_entries_are_columns_with_exact_numbers_and_ids_as_text():
    made = shortlist()
    entries = summary(made)["entries"]
    assert entries["name"] == ["size", NASTY, "price"]
    assert entries["id"] == ["7", "3", str(2**64 - 1)]
    assert entries["rank"] == [1, 2, 3]
    assert entries["weight"] == made.weights.tolist()
    assert entries["error"] == [None, 0.3, 0.1]
    assert "stability" not in entries
    assert "weight" not in summary(SAMPLES["scores_only"]())["entries"]


def test_stability_is_told_by_feature_whatever_the_order():
    made = SAMPLES["with_stability"]()
    assert summary(made)["entries"]["stability"] == [0.98, 0.5, None]
    assert summary(made.top(1))["entries"]["stability"] == [0.98]


def test_a_second_look_is_told():
    told = summary(SAMPLES["with_second_look"]())
    assert told["stability"]["unimodal"] == 0.11
    assert told["stability"]["others"] == [{"name": "<b>other", "share": 0.4}]
    assert told["substitutes"] == {
        "name": ["size", "size"],
        "substitute": ["<b>other", "ninety-eight"],
        "kept": [0.9, 0.6],
        "loss_increase": [0.01, None],
    }
    assert told["asked"]["settings"] == []


@pytest.mark.parametrize(
    "kind", ["binary", "several_classes", "outputs", "scores_only"]
)
def test_a_cut_to_a_smaller_budget_is_what_top_gives(kind):
    made = SAMPLES[kind]()
    place, budget = places(made), summary(made)["budget"]
    assert budget["kind"] == "cut"
    assert budget["place"] == place.tolist()
    assert budget["sizes"][-1] == place.max()
    for k, value in zip(budget["sizes"], budget["values"], strict=True):
        top = made.top(k)
        kept = place <= k
        assert top.names == tuple(np.array(made.names)[kept])
        assert value == pytest.approx(top.scores.sum())


def test_infinite_scores_have_no_curve_but_a_list():
    made = shortlist(scores=np.array([np.inf, 1.0, 2.0]))
    told = summary(made)
    assert told["budget"]["values"] is None
    assert told["budget"]["place"] == [1, 2, 3]
    assert told["entries"]["score"] == [None, 2.0, 1.0]


def test_a_path_has_the_list_of_each_size_also_of_what_left():
    budget = summary(path())["budget"]
    lists = [[budget["names"][f] for f in step["feature"]] for step in budget["steps"]]
    assert lists == [["early <b>bird</b>"], ["size", NASTY], ["size", NASTY, "price"]]
    assert budget["values"] == [1.0, 0.5, 0.25]
    assert [step["weight"] for step in budget["steps"]][1] == [2.5, 1.5]
    assert budget["held_out"]["loss"] == [1.1, 0.7, 0.6]


def test_members_are_told_in_the_order_of_coming_and_by_name():
    told = summary(SAMPLES["members"]())["membership"]
    assert [m["name"] for m in told["members"]] == ["size", NASTY, "#12", NASTY]
    assert [m["chosen"] for m in told["members"]] == [True, False, False, True]
    assert told["members"][0]["stays"] == [[0, 100], [300, 500]]
    assert told["end"] == 500
    assert told["n_forgotten"] == 4


def test_of_many_members_those_that_stayed_longest_are_told():
    n = 3 * MOST_MEMBERS
    stays = {
        "stay_ids": np.arange(n, dtype=np.uint64),
        "stay_margin": np.zeros(n, np.int64),
        "stay_entered": np.zeros(n, np.int64),
        "stay_left": np.arange(n),
    }
    told = membership_of(shortlist(trace=stays), {})
    assert told["n_members"] == n
    names = {m["name"] for m in told["members"]}
    assert names == {f"#{i}" for i in range(n - MOST_MEMBERS, n)}


def test_the_command_is_told_and_where_there_is_none_the_call():
    told = summary(shortlist())["reproduce"]
    assert told["command"] == "shortlist select a.svm -k 3"
    assert (told["seed"], told["call"], told["version"]) == (3, None, "0.0.1")
    called = summary(path())["reproduce"]
    assert called["command"] is None
    assert called["call"].endswith("FoBa(k=3, loss='squared').fit(X, y).shortlist_")
    changed = path()
    changed = type(changed)(
        **{f: getattr(changed, f) for f in changed.__dataclass_fields__}
        | {"params": {"overshoot": 0.5, "objective": 1.0}}
    )
    assert "overshoot=0.5" in summary(changed)["reproduce"]["call"]


def outcome_of(call, **names):
    """What the call that a report prints gives."""
    exec(call, names)
    return names["chosen"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 9))
    noise = rng.normal(size=(300, 3))
    margins = X[:, [1, 4, 7]] + X[:, [2, 1, 0]] + 0.5 * noise
    return X, margins.argmax(axis=1), margins[:, 0]


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "foba"},
        {"method": "mission"},  # three classes under one budget
        {"method": "mission", "budget": "per_class"},
        {"method": "foba", "loss": "huber:0.3", "k": 2},
        {"method": "barda", "eta": 0.2, "seed": 5},
        {"method": "online_substitution", "loss": "squared"},
        {"k": "auto", "method": "mrmr", "budgets": (1, 2, 4), "cv": 3},
        {"stability": 2, "trial": False, "substitutes": 1, "never": ["x4"]},
    ],
)
def test_the_call_of_a_choice_gives_the_same_features(table, asked):
    X, classes, number = table
    y = number if asked.get("loss", "auto") != "auto" else classes
    first = select(X, y, **{"k": 3, **asked})
    told = summary(first)["reproduce"]
    second = outcome_of(told["call"], X=X, y=y)
    assert second == first
    assert told["seed"] == asked.get("seed", 0)
    assert told["remark"].startswith("Made by the library.")


@pytest.mark.parametrize(
    "selector",
    [
        FoBa(k=3),
        FoBa(k=2, loss="huber:0.3", overshoot=0.5),
        Mission(k=3, budget="shared", seed=4),
        Mission(k=2),
        BARDA(k=3, eta=0.2),
        OnlineSubstitution(k=3),
    ],
    ids=repr,
)
def test_the_call_of_a_selector_gives_the_same_features(table, selector):
    X, classes, number = table
    y = number if "huber" in repr(selector) else classes
    first = clone(selector).fit(X, y).shortlist_
    second = outcome_of(summary(first)["reproduce"]["call"], X=X, y=y)
    assert second.names == first.names
    np.testing.assert_array_equal(second.weights, first.weights)


def test_the_call_of_sensors_and_of_stability_has_what_they_need(table):
    X, classes, _ = table
    day = np.repeat(np.arange(10), 30)
    sensors = SensorSelector(k=2).fit(X > 0, classes, sequence=day).shortlist_
    call = summary(sensors)["reproduce"]["call"]
    again = outcome_of(call, X=X > 0, y=classes, sequence=day)
    assert again.names == sensors.names
    halves = stability(FoBa(k=2), X, classes, n_resamples=2).shortlist
    call = summary(halves)["reproduce"]["call"]
    assert outcome_of(call, X=X, y=classes) == halves


def test_a_budget_that_was_found_is_told_as_asked_for_and_found(table):
    X, _, y = table
    told = summary(select(X, y, "auto", "mrmr", budgets=(1, 2, 4)))["asked"]
    assert (told["k_asked"], told["k"] in (1, 2, 4)) == ("auto", True)
    assert told["picked"] is None
    assert summary(select(X, y, 2, "mrmr"))["asked"]["k_asked"] == 2


@pytest.mark.parametrize("k", [2, "auto"])
def test_a_budget_of_groups_is_told_in_groups(table, k):
    X, _, y = table
    groups = {f"x{j}": f"g{j // 3}" for j in range(X.shape[1])}
    told = {"feature_groups": groups, "budgets": (2,), "trial": False}
    chosen = select(X, y, k, "foba", **told)
    asked = summary(chosen)["asked"]
    assert (asked["k"], asked["k_counts"], asked["k_asked"]) == (2, "group", k)
    assert chosen.k == chosen.n_selected == 6
    whole = FoBa(k=3, feature_groups=[groups[f"x{j}"] for j in range(X.shape[1])])
    assert summary(whole.fit(X, y).at(2))["asked"]["k"] == 2


def test_the_number_of_features_of_a_file_is_told(table, tmp_path):
    X, y, _ = table
    path = tmp_path / "a.csv"
    frame = pd.DataFrame(X[:, :6], columns=list("abcdef"))
    frame.assign(town=np.where(X[:, 8] > 0, "Bonn", "Oslo"), y=y).to_csv(
        path, index=False
    )
    for method in ("foba", "online_substitution"):
        told = summary(select(path, "y", 3, method, stability=2))
        assert told["n_features"] == told["stability"]["features"] == 8
        facts = {fact["term"]: fact["text"] for fact in told["facts"]}
        assert facts["features to choose from"] == "8"
    streamed = summary(select(path, "y", 3, "mission", stability=2))
    facts = {fact["term"]: fact["text"] for fact in streamed["facts"]}
    assert facts["features to choose from"] == (
        f"about {streamed['stability']['features']}"
    )


@pytest.mark.parametrize("method", sorted(selectors()))
def test_every_method_has_its_citation_and_words_for_its_settings(method):
    capabilities = selectors()[method]
    told = summary(shortlist(method=method, room=capabilities.room))
    assert told["citation"] == capabilities.citation
    assert told["asked"]["about"] == capabilities.summary
    # told as parts of their own, or properties of the data and not of a run
    others = {"groups", "budget"}
    assert set(capabilities.options) - others <= SETTINGS.keys()
    assert all(loss_in_words(loss) != loss for loss in capabilities.losses)


def test_sensors_have_a_citation_too():
    assert "Liu" in summary(shortlist(method="sensors", room="table"))["citation"]


def test_settings_are_spelled_for_people():
    params = {"k": 3, "refit": True, "lam": None, "eta": 0.1 + 0.2, "odd": {"a": [1]}}
    spelled = {s["name"]: s["value"] for s in settings("rows", params)}
    assert spelled == {"refit": "yes", "lam": "none", "eta": "0.3", "odd": "a 1"}
    meanings = {s["name"]: s["meaning"] for s in settings("rows", params)}
    assert meanings["odd"] is None
    assert meanings["eta"] == "step size"
    assert "k" in NO_SETTINGS


def test_facts_name_memory_collisions_and_what_is_not_known():
    params = {"memory": "16MB", "name_collision_probability": 1.6e-9}
    told = summary(shortlist(params=params, n_features=None))
    facts = {fact["term"]: fact["text"] for fact in told["facts"]}
    assert facts["features to choose from"] == "not known"
    assert facts["memory of the sketch"] == "at most 16MB"
    assert "2e-09" in facts["names"]


def test_facts_name_files_rows_held_out_and_why_a_short_stream_has_no_curve():
    held_out = {"metric": "r2", "value": 0.5, "baseline": 0.0, "n_rows": 1_200}
    data = {"files": 5, "names": ("a.csv", "b.csv", "c.csv"), "bytes": 3_400_000}
    one = {"rows": np.array([600]), "loss": np.array([0.5])}
    told = summary(shortlist(params={"holdout": held_out, "data": data}, trace=one))
    facts = {fact["term"]: fact["text"] for fact in told["facts"]}
    assert facts["data"] == "a.csv, b.csv, c.csv, ... (5 files), 3.4 MB"
    assert facts["examples held out"] == "1,200"
    assert facts["over the stream"].startswith("loss 0.5, predicted before learning")
    assert "every 1,000 examples" in facts["over the stream"]
    assert facts["made by"] == "shortlist 0.0.1"
    assert "stream" not in told
    assert told["asked"]["settings"] == []
    assert "over the stream" not in {fact["term"] for fact in summary(path())["facts"]}


def test_a_score_on_held_out_rows_is_told_without_nan():
    held_out = {"metric": "r2", "value": float("nan"), "baseline": 0.0, "n_rows": 12}
    told = summary(shortlist(params={"holdout": held_out}))
    assert told["holdout"] == held_out | {"value": None}


def test_every_key_is_documented():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text()
    keys = {key for make in SAMPLES.values() for key in summary(make())}
    keys |= PARTS
    assert [key for key in sorted(keys) if f"| `{key}` |" not in page] == []


def test_labels_are_texts_in_the_order_of_the_margins():
    told = summary(several_classes())
    assert told["classes"] == told["margins"] == ["a", "b", NASTY]
    assert summary(shortlist(classes=(0.0, 1.0)))["margins"] == ["1.0"]
