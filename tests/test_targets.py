"""Labels decide on the loss as documented; bad ones are named with their row."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sketch import make_block
from shortlist._protocols import BadRow, DataError, ShortlistError
from shortlist._targets import (
    MAX_AUTO_CLASSES,
    check_sizes,
    choose_target,
    target_of,
)
from shortlist.losses import (
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Softmax,
    Squared,
    SquaredHinge,
    one_vs_rest,
)

quick = settings(max_examples=100, deadline=None)
NAN = float("nan")


def auto(*y, **options):
    return choose_target("auto", np.array(y, float), **options)


@pytest.mark.parametrize("pair", [(0, 1), (-1, 1), (1, 2), (7, -3)])
def test_two_values_make_a_logistic_model(pair):
    target = auto(*pair, pair[0])
    assert target.loss == Logistic()
    assert target.classes == tuple(sorted(pair))
    assert target.n_margins == 1
    assert target.note is None


@pytest.mark.parametrize("n_classes", [3, MAX_AUTO_CLASSES])
def test_up_to_twenty_whole_values_make_a_softmax(n_classes):
    target = auto(*range(n_classes))
    assert target.loss == Softmax()
    assert target.classes == tuple(range(n_classes))
    assert target.n_margins == n_classes


def test_more_whole_values_are_numbers_to_predict_and_the_user_is_told():
    target = auto(*range(MAX_AUTO_CLASSES + 1))
    assert target.loss == Squared()
    assert target.classes is None
    assert target.n_margins == 1
    assert "21 different whole numbers" in target.note
    assert "softmax" in target.note


def test_fractions_are_numbers_to_predict():
    target = auto(0.5, 1.0, 2.0)
    assert target.loss == Squared()
    assert target.classes is None
    assert target.note is None


def test_names_are_classes_however_many():
    two = auto(0, 1, labels=["ham", "spam"])
    assert (two.loss, two.classes) == (Logistic(), ("ham", "spam"))
    names = [f"name{i}" for i in range(50)]
    many = auto(*range(50), labels=names)
    assert (many.loss, many.classes) == (Softmax(), tuple(names))


def test_rows_without_labels_do_not_count_as_a_class():
    assert auto(0, 1, NAN).loss == Logistic()


@pytest.mark.parametrize("loss", ["auto", "logistic", "softmax", "hinge"])
def test_a_single_class_is_an_error_that_names_it_and_the_way_out(loss):
    with pytest.raises(DataError, match=r"class.*\b4\b.*3 rows.*classes=.*loss="):
        choose_target(loss, np.full(3, 4.0))
    with pytest.raises(DataError, match=r"class.*\bham\b.*3 rows"):
        choose_target(loss, np.zeros(3), labels=["ham", "spam"])


def test_no_labels_at_all_are_an_error_too():
    with pytest.raises(
        DataError, match=r"expected at least two classes, got no.* 2 rows"
    ):
        auto(NAN, NAN)


def test_classes_that_the_user_names_need_not_have_come_yet():
    target = auto(1, 1, classes=[1, 0])
    assert (target.loss, target.classes) == (Logistic(), (0, 1))
    assert auto(1, 1, classes=[2, 1, 0]).n_margins == 3
    named = auto(0, 0, labels=["ham", "spam"], classes=["spam", "ham"])
    assert named.classes == ("ham", "spam")


def test_a_class_that_is_no_label_is_refused():
    with pytest.raises(ShortlistError, match="'eggs'"):
        auto(0, 1, labels=["ham", "spam"], classes=["ham", "eggs"])


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_logistic_of_many_classes_is_softmax(loss):
    target = choose_target(loss, np.arange(30.0))
    assert (target.loss, target.n_margins) == (Softmax(), 30)


def test_softmax_of_two_classes_stays_softmax():
    target = choose_target("softmax", np.array([0.0, 1.0]))
    assert (target.loss, target.n_margins) == (Softmax(), 2)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=["hinge", "squared"])
def test_margin_losses_of_many_classes_are_one_against_the_rest(loss):
    assert choose_target(loss, np.array([3.0, 5.0])).loss == loss
    target = choose_target(loss, np.arange(3.0))
    assert (target.loss, target.n_margins) == (one_vs_rest(loss), 3)


def test_a_loss_of_two_classes_without_a_sum_over_classes_is_refused(monkeypatch):
    # as a loss of a user's own
    monkeypatch.setattr("shortlist._targets.one_vs_rest", lambda loss: None)
    with pytest.raises(ShortlistError, match="'hinge' knows two classes, got 3; try"):
        choose_target("hinge", np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("loss", [Squared(), Huber(delta=2.0), Poisson()])
def test_regression_takes_labels_as_numbers_even_if_there_is_only_one(loss):
    target = choose_target(loss, np.full(3, 7.0))
    assert (target.loss, target.classes, target.n_margins) == (loss, None, 1)
    np.testing.assert_array_equal(target.encode(np.array([7.0, 2.5])), [7.0, 2.5])


def test_regression_on_names_is_refused():
    with pytest.raises(ShortlistError, match=r"'squared' needs numbers.*'ham'"):
        choose_target("squared", np.array([0.0, 1.0]), labels=["ham", "spam"])


def test_signs_codes_and_order_of_classes_agree():
    np.testing.assert_array_equal(auto(5, 3).encode(np.array([3.0, 5.0])), [-1.0, 1.0])
    codes = auto(5, 3, 9).encode(np.array([9.0, 3.0, 5.0]))
    np.testing.assert_array_equal(codes, [2.0, 0.0, 1.0])
    assert codes.dtype == np.float64


@quick
@given(st.lists(st.integers(-5, 5), min_size=2).filter(lambda y: len(set(y)) > 2))
def test_codes_lead_back_to_the_labels(y):
    target = auto(*y)
    codes = target.encode(np.array(y, float)).astype(int)
    assert [target.classes[code] for code in codes] == y


def test_encoding_leaves_the_raw_labels_alone():
    y = np.array([3.0, 5.0])
    auto(3, 5).encode(y)
    np.testing.assert_array_equal(y, [3.0, 5.0])


@pytest.mark.parametrize("label", [4.0, 2.0, 9.0])
def test_a_label_never_seen_before_is_refused_with_its_row_and_the_classes(label):
    with pytest.raises(DataError, match=rf"row 11: .*labels 3, 5 .*got {label:g}"):
        auto(3, 5).encode(np.array([3.0, label, label]), first_row=10)


def test_a_missing_label_is_refused_with_its_row():
    with pytest.raises(DataError, match=r"row 1: .*got no label"):
        auto(3, 5).encode(np.array([3.0, NAN]))
    with pytest.raises(DataError, match="row 0: expected a number as label"):
        choose_target("squared", np.zeros(1)).encode(np.array([NAN]))


@pytest.mark.parametrize("label", [float("inf"), -float("inf")])
def test_an_infinite_number_is_refused(label):
    with pytest.raises(DataError, match="row 0"):
        choose_target("squared", np.zeros(1)).encode(np.array([label]))


def test_negative_counts_are_refused_with_their_row():
    target = choose_target("poisson", np.array([0.0, 3.0]))
    with pytest.raises(DataError, match=r"row 102: expected a number >= 0.*got -2"):
        target.encode(np.array([0.0, 1.5, -2.0]), first_row=100)


def test_errors_about_a_source_begin_with_its_name():
    source = SimpleNamespace(name="train.svm", label_names=None, reiterable=False)
    with pytest.raises(DataError, match=r"^train\.svm: labels"):
        target_of(source, "auto", None, np.zeros(2))
    assert target_of(source, "auto", None, np.arange(2.0)).loss == Logistic()
    source.label_names = ["ham", "spam"]
    target = target_of(source, "hinge", ["ham", "spam"], np.zeros(2))
    assert (target.loss, target.classes) == (Hinge(), ("ham", "spam"))


class Labels:
    """A source of which nothing but the labels matters; counts how often it is read."""

    name, label_names, reiterable = "rows", None, True

    def __init__(self, y, **about):
        self.y, self.n_readings = np.array(y, float), 0
        vars(self).update(about)

    def blocks(self):
        self.n_readings += 1
        for start in range(0, len(self.y), self.size):
            yield SimpleNamespace(y=self.y[start : start + self.size])

    def target(self, loss="auto", size=700):
        self.size = size
        return target_of(self, loss, None, self.y[:1000])


@pytest.mark.parametrize("size", [1, 999, 10_000])
def test_rows_sorted_by_class_have_the_classes_of_all_rows(size):
    source = Labels(np.repeat([1, 0, 2], 900))
    assert source.target(size=size).classes == (0, 1, 2)
    assert Labels([0] * 1500 + [1] * 3).target(size=size).classes == (0, 1)
    assert Labels([5] * 1500 + [7]).target("hinge", size).classes == (5, 7)


@pytest.mark.parametrize("size", [1, 999, 10_000])
def test_sorted_numbers_to_predict_are_told_from_classes(size):
    many = Labels(np.repeat(np.arange(60), 100)).target(size=size)
    assert (many.loss, many.note[:12]) == (Squared(), "21 different")
    assert Labels([0] * 1500 + [0.5, 1]).target(size=size).loss == Squared()
    assert len(Labels(np.repeat(np.arange(60), 100)).target("softmax").classes) == 60


def test_rows_whose_first_labels_are_mixed_are_not_read_for_the_others():
    source = Labels([0, 1] * 700 + [2])
    assert source.target().classes == (0, 1)
    assert source.n_readings == 0
    numbers = Labels([0] * 1200)
    assert numbers.target("squared").loss == Squared()
    assert numbers.n_readings == 0


def test_a_pipe_is_judged_by_its_first_rows_alone():
    with pytest.raises(DataError, match=r"1 class \(0\) in 1000 rows"):
        Labels([0] * 1200 + [1], reiterable=False).target()


def test_labels_that_a_source_knows_are_the_classes():
    names = ["ape", "bee", "cat", "none such"]
    source = Labels([0] * 1500, label_names=names, known_labels=names[:3])
    assert source.target().classes == ("ape", "bee", "cat")
    assert source.n_readings == 0


def test_a_class_that_is_not_among_those_asked_for_is_called_by_its_name():
    target = choose_target("auto", np.arange(2.0), labels=["ham", "spam", "eggs"])
    with pytest.raises(DataError, match=r"row 0: .*labels ham, spam .*got eggs"):
        target.encode(np.array([2.0]))


def test_an_infinite_label_does_not_count_as_a_class():
    target = choose_target("auto", np.array([0.0, 1.0, np.inf]))
    assert target.classes == (0, 1)
    with pytest.raises(DataError, match=r"row 0: .*got inf"):
        target.encode(np.array([np.inf]))


def test_names_for_classes_that_are_numbers_are_refused():
    with pytest.raises(ShortlistError, match="classes should be numbers"):
        choose_target("auto", np.arange(2.0), classes=["ham", "spam"])


@pytest.mark.parametrize("value", [1e30, -1e39, 1e308])
def test_a_value_too_large_is_placed_among_the_rows_that_were_read(value):
    rows = [[(1, 2.0)], [], [(3, 0.5), (2, value)], [(1, 1.0)]]
    block = make_block(rows, np.zeros(4), np.ones(4))._replace(first_row=10)
    kept = np.array([True, False, True, True, False, True])
    for among, row in ((None, 12), (kept, 13)):
        came = re.escape(f"got {value:g}")
        with pytest.raises(BadRow, match=f"row {row}: .* {came}"):
            check_sizes(block, among)
    check_sizes(make_block(rows[:2], np.zeros(2), np.ones(2)), None)
