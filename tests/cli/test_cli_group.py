"""The group: what every command does alike."""

import subprocess
import sys

import pytest

from shortlist import _registry
from shortlist.cli import _group
from shortlist.cli._failures import as_options

HEAVY = ("numpy", "numba", "scipy", "sklearn", "pandas", "pyarrow", "rich")


def modules_after(code):
    """Names of modules that some code imports, in a fresh process."""
    ending = "\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", "import sys\n" + code + ending],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


def test_help_imports_nothing_heavy():
    calls = [["--help"], ["--version"], *([name, "--help"] for name in _group.COMMANDS)]
    code = f"""
from shortlist.cli import cli
for words in {calls!r}:
    cli.main(words, standalone_mode=False)
"""
    assert not modules_after(code) & set(HEAVY)


def test_commands_on_text_import_no_library_of_tables_or_estimators(
    data, model, tmp_path
):
    calls = [
        ["select", str(data), "-k", "2", "-q", "--no-trial"],
        ["predict", str(model), str(data), "-q", "-o", str(tmp_path / "labels.txt")],
        ["transform", str(model), str(data), "-q", "-o", str(tmp_path / "small.csv")],
        ["inspect", str(model)],
    ]
    code = f"""
from shortlist.cli import cli
for words in {calls!r}:
    assert cli.main(words, standalone_mode=False) == 0
"""
    unwanted = {"sklearn", "pandas", "polars", "pyarrow", "matplotlib", "rich"}
    assert not modules_after(code) & unwanted


def test_one_pass_over_text_waits_for_nothing_that_it_does_not_use(data):
    code = f"""
from shortlist.cli import cli
words = ["select", {str(data)!r}, "-k", "2", "-q", "--recipe", "newton"]
assert cli.main([*words, "--method", "mission"], standalone_mode=False) == 0
"""
    unwanted = {"scipy.sparse", "scipy.linalg", "shortlist.front", "shortlist.evaluate"}
    assert not modules_after(code) & unwanted


def test_looking_into_a_model_needs_no_compiler(model):
    code = f"""
from shortlist.cli import cli
cli.main(["inspect", {str(model)!r}], standalone_mode=False)
"""
    assert not modules_after(code) & {"numba", "scipy", "sklearn"}


def test_help_names_the_rooms_that_the_registry_has(run):
    assert sorted(_group.open_rooms()) == sorted(_registry.ROOMS)
    text = run("--help").stdout
    for room in _group.ROOMS:
        state = "(available)" if room in _registry.ROOMS else "(not yet)"
        assert any(room in line and state in line for line in text.splitlines())


def test_no_command_shows_help(run):
    result = run()
    assert "Usage: shortlist" in result.output


def test_version(run):
    from shortlist import __version__

    assert run("--version").stdout == f"shortlist, version {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["selcet"],
        ["--nonsense"],
        ["select"],
        ["select", "x.svm"],
        ["select", "x.svm", "-k", "none"],
        ["select", "x.svm", "-k", "0"],
        ["select", "x.svm", "-k", "3", "--nonsense"],
        ["inspect"],
        ["cache", "burn"],
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("shortlist: error: ")
    assert result.stderr.count("\n") == 1
    assert "--help" in result.stderr


def test_errors_are_one_line_unless_debugging(run, tmp_path):
    missing = tmp_path / "missing.svm"
    quiet = run("select", missing, "-k", 3)
    assert (quiet.exit_code, quiet.stdout) == (1, "")
    assert quiet.stderr == f"shortlist: error: {missing}: No such file or directory\n"
    for words in (["--debug", "select"], ["select", "--debug"]):
        loud = run(*words, missing, "-k", 3)
        assert loud.exit_code == 1
        assert "Traceback" in loud.stderr
        assert loud.stderr.endswith(quiet.stderr)


def test_a_bug_of_ours_is_one_line_that_asks_for_a_report(run, model, monkeypatch):
    monkeypatch.setattr("shortlist._shortlist.Shortlist.load", lambda _: 1 / 0)
    result = run("inspect", model)
    assert result.exit_code == 1
    assert result.stderr == (
        "shortlist: error: internal error, ZeroDivisionError: division by zero; "
        "please report it with what --debug shows\n"
    )


def test_ctrl_c_is_quiet(run, model, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("shortlist._shortlist.Shortlist.load", interrupt)
    result = run("inspect", model)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")


def test_exit_code_reaches_the_shell(spawn, model):
    good, bad = spawn("inspect", model), spawn("inspect", "missing")
    assert good.communicate()[1] == ""
    assert bad.communicate()[0] == ""
    assert (good.returncode, bad.returncode) == (0, 1)


def test_library_settings_are_named_as_options():
    text = (
        "always= names 3 features, more than the budget k=2 (see classes= in k=2.svm)"
    )
    assert as_options(text) == (
        "--always names 3 features, more than the budget -k 2 (see --classes in -k 2.svm)"
    )
    assert as_options("k=2.svm: not readable") == "k=2.svm: not readable"
