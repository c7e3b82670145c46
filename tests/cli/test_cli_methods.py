"""Settings of table methods on the command line are those of their estimators."""

import numpy as np
import pytest

from shortlist import Shortlist
from shortlist._registry import selectors
from shortlist.cli._method_options import METHOD_OPTIONS

#: A value that is not the default, and the words that ask for it.
ASKED = {
    "criterion": "objective",
    "overshoot": 0.5,
    "l2": 0.25,
    "r": 1.0,
    "p": 0.75,
    "lam": 12.5,
    "relevance": "f",
    "redundancy": "mutual_info",
    "scheme": "difference",
    "bins": 3,
    "n_neighbors": 4,
}
TABLE_METHODS = [
    capabilities.method
    for capabilities in selectors().values()
    if capabilities.room == "table" and set(capabilities.options) & set(METHOD_OPTIONS)
]
GROUPS = "groups"  #: tests/cli/test_cli_groups.py is about it
#: Settings of room rows; tests/cli/test_cli_rows.py is about them.
OF_ROWS = {"eta", "delta", "forget", "gamma", "truncation", "refit"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """X, y of three classes, and a file of both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12)).round(3)
    score = X[:, 3] - X[:, 7] + 0.5 * X[:, 9] + rng.normal(size=120)
    y = np.digitize(score, [-0.7, 0.7]) + 1.0
    path = tmp_path_factory.mktemp("methods") / "rows.svm"
    lines = (" ".join(f"{j}:{v}" for j, v in enumerate(row)) for row in X)
    path.write_text("".join(f"{t:g} {row}\n" for t, row in zip(y, lines, strict=True)))
    return X, y, path


def words_of(settings):
    for name, value in settings.items():
        yield from (f"--{name.replace('_', '-')}", value)


def test_the_methods_with_settings_are_the_ones_meant():
    assert set(TABLE_METHODS) == {
        "foba", "projected_gradient", "iti", "pht",
        "gsr", "mtfs", "rfs", "erfs", "rk1u", "mrmr", "relieff"
    }  # fmt: skip
    assert {*ASKED, *OF_ROWS, GROUPS} == set(METHOD_OPTIONS)


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_settings_are_those_of_the_estimator(run, rows, tmp_path, method):
    X, y, path = rows
    capabilities = selectors()[method]
    settings = {name: ASKED[name] for name in capabilities.options if name != GROUPS}
    model = tmp_path / "model.shortlist"
    asked = ["select", path, "--method", method, "-k", 3, "--holdout", 0, "-o", model]
    done = run(*asked, *words_of(settings))
    assert done.exit_code == 0, done.stderr
    chosen = Shortlist.load(model)
    fitted = capabilities.load("estimator")(3, loss="softmax", **settings).fit(X, y)
    assert [int(name) for name in chosen.names] == fitted.shortlist_.ids.tolist()
    np.testing.assert_allclose(chosen.scores, fitted.shortlist_.scores, rtol=1e-6)
    for name, value in settings.items():
        assert chosen.params[name] == pytest.approx(value)
        assert f"--{name.replace('_', '-')} {value}" in chosen.params["command"]


@pytest.mark.parametrize("method", ["foba", "iti", "gsr", "mrmr", "relieff"])
def test_settings_make_a_difference(run, rows, tmp_path, method):
    _, _, path = rows
    model = tmp_path / "model.shortlist"
    asked = ["select", path, "--method", method, "-k", 3, "--holdout", 0, "-o", model]
    options = selectors()[method].options
    settings = {name: ASKED[name] for name in options if name != GROUPS}
    scores = []
    for words in ((), words_of(settings)):
        assert run(*asked, *words).exit_code == 0
        loaded = Shortlist.load(model)
        told = loaded.trace["relevance"] if method == "mrmr" else loaded.scores
        scores.append(told)
    assert not np.allclose(scores[0], scores[1])


def test_one_exponent_of_erfs_is_both(run, rows, tmp_path):
    model = tmp_path / "model.shortlist"
    asked = ["select", rows[2], "--method", "erfs", "-k", 3, "-o", model]
    assert run(*asked, "--p", 0.75).exit_code == 0
    assert Shortlist.load(model).params["r"] == 0.75


def test_auto_may_be_spelled_out(run, rows, tmp_path):
    asked = ["select", rows[2], "--method", "gsr", "-k", 3, "--holdout", 0]
    spelled = run(*asked, "--r", "auto", "--lam", "auto", "--format", "csv")
    assert spelled.exit_code == 0, spelled.stderr
    assert spelled.stdout == run(*asked, "--format", "csv").stdout


@pytest.mark.parametrize(
    ("method", "words", "message"),
    [
        ("gsr", ["--r", 2.5], "'--r': 2.5 is not in the range 0<x<=2"),
        ("gsr", ["--r", "x"], "'--r': 'x' is not a valid float"),
        ("gsr", ["--p", 0], "'--p': 0.0 is not in the range 0<x<=1"),
        ("mtfs", ["--lam", -1], "'--lam': -1.0 is not in the range x>=0"),
        ("mtfs", ["--p", 0.5], "mtfs has no setting --p"),
        ("erfs", ["--r", 0.5], "erfs has no setting --r"),
        ("mission", ["--lam", 1], "mission has no setting --lam"),
        ("foba", ["--l2", -1], "'--l2': -1.0 is not in the range x>=0"),
        ("foba", ["--overshoot", -1], "'--overshoot': -1.0 is not in the range x>=0"),
        ("foba", ["--criterion", "luck"], "'--criterion': 'luck' is not one of"),
        ("foba", ["--scheme", "quotient"], "foba has no setting --scheme"),
        ("mrmr", ["--n-neighbors", 3], "mrmr has no setting --n-neighbors"),
        ("mrmr", ["--bins", 1], "'--bins': 1 is not in the range x>=2"),
        ("relieff", ["--n-neighbors", 0], "'--n-neighbors': 0 is not in the range"),
    ],
)
def test_what_a_method_cannot_take_is_refused_in_one_line(
    run, rows, method, words, message
):
    refused = run("select", rows[2], "--method", method, "-k", 2, *words)
    assert refused.exit_code == 2
    assert message in refused.stderr
