"""``shortlist report`` writes the page of a model, or what it tells as JSON."""

import json
import subprocess
import sys

from shortlist import Shortlist


def test_the_page_of_a_model_goes_to_a_file(run, model, tmp_path):
    result = run("report", model, "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text()
    assert page == Shortlist.load(model).report().html
    assert result.stdout == ""
    assert result.stderr == f"report written to {tmp_path / 'report.html'}\n"
    assert run("report", model, "-q", "-o", tmp_path / "report.html").stderr == ""


def test_json_is_the_summary_and_the_page_may_go_to_a_pipe(run, model, data):
    told = json.loads(run("report", model, "--json").stdout)
    assert told == Shortlist.load(model).report().summary
    assert (
        told["reproduce"]["command"] == f"shortlist select {data} -k 4 --method mission"
    )
    assert run("report", model).stdout.startswith("<!doctype html>")


def test_bad_requests_get_one_line(run, model, data):
    over = run("report", model, "-o", model)
    assert over.exit_code == 2
    assert "is read by this command" in over.stderr
    assert run("report", "missing.shortlist").exit_code == 1
    assert run("report", data).stderr.count("\n") == 1


def test_commands_that_need_no_report_do_not_load_it(model):
    code = (
        "import sys; from shortlist.cli import cli\n"
        f"cli.main(['inspect', {str(model)!r}], standalone_mode=False)\n"
        "loaded = [m for m in sys.modules if m.startswith('shortlist.report')]\n"
        "sys.exit(bool(loaded))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True).returncode
        == 0
    )
