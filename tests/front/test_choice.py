"""What is picked depends on nothing but the facts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import ShortlistError
from shortlist._registry import selector
from shortlist.front import Facts, choose
from shortlist.front._choice import RULES, SHARE_OF_MEMORY, fits
from shortlist.front._facts import facts_of_rows, free_memory, table_bytes
from shortlist.sources import open_source

GB = 10**9


def table(n_rows, n_features, *, density=1.0, **others):
    nonzeros = round(density * n_rows * n_features)
    sizes = {"n_rows": n_rows, "n_features": n_features, "n_nonzeros": nonzeros}
    memory = {"n_bytes": 32 * nonzeros, "memory": 8 * GB}
    return Facts("rows", **sizes, **memory, **({"n_classes": 2} | others))


@pytest.mark.parametrize(
    ("facts", "room"),
    [
        (table(62, 2000), "table"),
        (table(600, 20_000, density=0.005), "table"),
        (table(10_000, 50), "table"),
        (table(10_000, 50, n_classes=0), "table"),
        (table(10**8, 1000), "sketch"),  # 3 TB
        (table(62, 2000, must_stream=True), "sketch"),
        (Facts("rows", again=False), "sketch"),
        (Facts("columns", n_rows=100, n_features=10**7), "columns"),
        (Facts("sequence"), "table"),
    ],
)
def test_the_room_goes_by_how_data_come_and_by_memory(facts, room):
    choice = choose(facts)
    assert choice.room == room
    line = choice.line("--method")
    assert "\n" not in line
    assert line.startswith(f"{choice.method} (room {room}): ")
    way = "leaving out --sequence" if choice.method == "sensors" else "--method"
    assert line.endswith(f"; {way} asks for another")


def test_sequences_go_to_sensors_and_columns_to_substitution():
    assert choose(Facts("sequence")).method == "sensors"
    assert choose(Facts("columns")).method == "online_substitution"


@pytest.mark.parametrize(
    ("setting", "methods"),
    [
        ("r", {"gsr"}),
        ("bins", {"mrmr"}),
        ("n_neighbors", {"relieff"}),
        ("recipe", {"mission"}),
        ("truncation", {"barda"}),
        ("batch", {"batch_iht"}),
        ("criterion", {"foba"}),
    ],
)
def test_a_setting_asks_for_a_method_that_has_it(setting, methods):
    assert choose(table(500, 40, settings=frozenset([setting]))).method in methods


def test_what_should_stream_is_not_called_too_large():
    facts = Facts("rows", must_stream=True, settings=frozenset(["passes"]))
    assert choose(facts).why == "rows that stream, as was asked for"
    facts = replace(facts, settings=frozenset(["batch"]))
    assert choose(facts).method == "batch_iht"


def test_settings_that_no_method_has_are_refused_in_one_line():
    facts = table(500, 40, settings=frozenset(["r", "bins"]))
    with pytest.raises(ShortlistError, match=r"asked for \(bins, r\)") as caught:
        choose(facts)
    assert "\n" not in str(caught.value)


def test_a_loss_asks_for_a_method_that_knows_it():
    picked = choose(table(500, 40, loss="hinge")).method
    assert "hinge" in selector(picked).losses


def test_methods_that_would_take_hours_are_passed_over_and_it_is_said():
    facts = table(40_000, 300, n_classes=20, k=100)
    assert next(rule for rule in RULES if rule.applies(facts)).methods[0] == "foba"
    choice = choose(facts)
    assert choice.method == "mrmr"
    assert "as foba would take" in choice.why
    assert "foba" not in choice.rivals
    assert choose(replace(facts, k=5)).method == "foba"


@given(
    n_rows=st.integers(1, 10**9),
    n_features=st.integers(1, 10**9),
    density=st.floats(0, 1),
    n_classes=st.sampled_from([0, 2, 5, 1000]),
    k=st.integers(1, 10_000),
    memory=st.none() | st.integers(0, 10**13),
    again=st.booleans(),
    must_stream=st.booleans(),
)
def test_there_is_a_method_for_all_data(
    n_rows, n_features, density, n_classes, k, memory, again, must_stream
):
    nonzeros = round(density * n_rows * n_features)
    facts = Facts(
        "rows", n_rows, n_features, nonzeros, 32 * nonzeros, memory, n_classes,
        again, k, must_stream=must_stream,
    )  # fmt: skip
    choice = choose(facts)
    assert choice == choose(facts)
    if choice.room == "table":
        assert again
        assert not must_stream
        assert memory is None or 32 * nonzeros <= SHARE_OF_MEMORY * memory
    assert fits(facts) or choice.room == "sketch"


def test_the_system_tells_how_much_memory_is_free():
    free = free_memory()
    assert free is None or 10**6 < free < 10**16


def test_only_tables_in_memory_have_rivals_for_a_trial():
    assert choose(table(62, 2000)).rivals[0] == "foba"
    assert len(choose(table(62, 2000)).rivals) > 3
    for facts in (Facts("rows", again=False), table(62, 2000, must_stream=True)):
        assert choose(facts).rivals == ()
    assert choose(table(500, 40, settings=frozenset(["bins"]))).rivals == ("mrmr",)


def test_what_takes_long_on_a_part_of_the_rows_is_not_tried():
    small, large = (choose(table(4000, p)).rivals for p in (50, 100_000))
    assert "relieff" in small
    assert "relieff" not in large


@pytest.mark.parametrize("vocabulary", [2**50, 300])
def test_features_of_a_file_are_counted_as_they_go_on_coming(tmp_path, vocabulary):
    path, rng = tmp_path / "ids.svm", np.random.default_rng(0)
    rows = np.sort(rng.integers(vocabulary, size=(60_000, 4)) + 1, axis=1)
    path.write_text("".join(f"1 {a}:1 {b}:1 {c}:1 {d}:1\n" for a, b, c, d in rows))
    source = open_source(path, block_bytes=100_000)
    facts = facts_of_rows(source)
    true = len(np.unique(rows))
    assert facts.n_features == pytest.approx(true, rel=0.1)
    assert facts.n_bytes == pytest.approx(240_000 * 32 + true * 600, rel=0.1)


def test_what_names_make_too_large_is_not_held():
    words = Facts("rows", n_rows=50_000, n_features=3_000_000, n_nonzeros=3_000_000)
    sizes = {"memory": 4 * GB, "n_classes": 2}
    held = choose(replace(words, n_bytes=32 * 3_000_000, **sizes))
    assert len(held.rivals) > 1
    n_bytes = table_bytes(3_000_000, 3_000_000)
    streamed = choose(replace(words, n_bytes=n_bytes, **sizes))
    assert streamed.kind.startswith("more rows than should be held in memory")
    assert "1.9 GB" in streamed.kind
    assert not streamed.rivals
