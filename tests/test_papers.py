"""Scripts that rerun papers still run; what they need and do not find, they name."""

import os
import re
import subprocess
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

ROOT = Path(__file__).parents[1]


@pytest.fixture
def scripts(monkeypatch):
    """Have benchmarks and papers importable, as from the project's root."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def reported(scripts, monkeypatch, capsys, tmp_path):
    """Run the report of a paper on lines of results; return what it prints."""

    def reported(paper, lines):
        for name, text in lines.items():
            (tmp_path / f"{name}.csv").write_text("\n".join(text) + "\n")
        monkeypatch.setattr(sys, "argv", ["report", "--results", str(tmp_path)])
        import_module(f"papers.{paper}.report").main()
        return capsys.readouterr().out

    return reported


QUICK = {
    "foba": ["synthetic", "corollary", "real", "sensors"],
    "gsr": ["accuracy", "convergence", "outliers", "timing", "variants"],
    "mission": [
        *("drift", "growth", "phase", "rounds", "skewed"),
        *("speed", "table1", "topk", "tradeoff"),
    ],
    "barda": ["accuracy", "drift", "multiclass", "regret", "tune"],
    "os": ["accuracy", "real", "speedup", "theory"],
}


def _bytes_under(path):
    return {
        file: file.read_bytes()
        for file in ([path] if path.is_file() else path.glob("*.csv"))
    }


@pytest.mark.parametrize(
    ("paper", "script"),
    [(paper, script) for paper, scripts in QUICK.items() for script in scripts],
)
def test_the_quick_form_of_a_script_runs_without_data(
    scripts, monkeypatch, capsys, paper, script
):
    # in this process: together they take less time than one takes to start
    monkeypatch.setattr(os, "environ", os.environ.copy())
    module = import_module(f"papers.{paper}.{script}")
    monkeypatch.setattr(sys, "argv", [script, "--quick"])
    written = _bytes_under(module.RESULTS)
    module.main()
    assert paper in capsys.readouterr().out
    assert _bytes_under(module.RESULTS) == written


def test_barda_is_compared_with_its_slow_version(scripts, monkeypatch, capsys):
    module = import_module("papers.barda.exact")
    monkeypatch.setattr(sys, "argv", ["exact", "--quick"])
    module.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("200 examples, supports differ after 0;" in line for line in lines)


def test_settings_of_barda_are_those_that_learn_best(scripts, tmp_path):
    from papers.barda.tasks import make
    from papers.barda.tune import open_ledger, tune
    from papers.results import read_lines

    ledger, task = open_ledger(tmp_path / "tune.csv"), make("small")
    gamma = tune(task, "sofs", ledger, 5)["gamma"]
    lines = read_lines(ledger.path)
    train = {float(line["value"]): float(line["train"]) for line in lines}
    assert train[gamma] == max(train.values()) > min(train.values())
    assert tune(task, "sofs", open_ledger(ledger.path), 5)["gamma"] == gamma
    assert read_lines(ledger.path) == lines


def test_each_pass_has_an_order_of_its_own_and_a_seed_repeats_them(scripts):
    from papers.barda.tasks import make

    task = make("small")
    first, again = task.train(3), task.train(3)
    orders = [next(first.blocks()).y for _ in range(2)]
    assert not np.array_equal(*orders)
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(task.y)
    np.testing.assert_array_equal(orders[0], next(again.blocks()).y)


def test_barda_reports_whatever_results_there_are(reported, tmp_path):
    regret = "a,barda,paper,1.0,{},{},0.1,4,1,{},0.3,0.5,{},1"
    lines = {
        "accuracy": [
            "set,order,method,k,lam,online,refit,features",
            "a,0,barda,10,,0.5,0.6,10",
            "a,1,barda,10,,0.7,0.8,10",
            "a,0,barda,500,,0.8,,500",
            "a,0,l1arda,0,0.1,0.4,,12",
        ],
        "regret": [
            "set,method,truncation,delta,T,loss,best,length,largest,gradients,xi,xi_max,"
            "xi_sum,apart",
            regret.format(100, 50, 10, 50),
            regret.format(200, 80, 12, 80),
            regret.format(400, 120, 16, 120),
        ],
        "drift": [
            "seed,method,rows,error",
            *(
                f"0,B-ARDA,{n},{e}"
                for n, e in ((1, 0.1), (2, 0.1), (3, 0.3), (4, 0.11))
            ),
        ],
        "multiclass": [
            "set,order,method,passes,k,refit,online,distinct",
            "a,0,softmax,1,5,0.5,0.4,9",
            "a,0,rest,1,5,0.6,0.3,8",
        ],
    }
    printed = reported("barda", lines)
    assert "| B-ARDA | 1 to 2 | 60.0 / 70.0 | 80.0 |" in printed
    # 120 - 40; (4 / .6) + (1 / .6 + .3) 16; .5 sqrt(2 400 16)
    assert "| 80 | T^0.42 | 38 | 57 |" in printed
    assert "| B-ARDA | 0.100 | 0.300 |" in printed
    assert "| 2 rows |" in printed
    assert "| a | 1 | 5 | 1 | 40.0 / 50.0 (9) | 30.0 / 60.0 (8) |" in printed
    drawn = ("accuracy_small", "accuracy_large", "accuracy_l1", "regret", "drift")
    for name in (*drawn, "multiclass"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_peers_of_room_rows_learn_the_same_stream(scripts, monkeypatch, capsys):
    from benchmarks import rows_peers

    monkeypatch.setattr(sys, "argv", ["rows_peers", "--quick"])
    rows_peers.main()
    printed = capsys.readouterr().out
    for kind in ("parsed", "text"):
        assert re.search(rf"^{kind} +B-ARDA, k = 100", printed, re.M)


def test_speed_up_of_substitution_is_that_against_one_worker(reported, tmp_path):
    head = "engine,kind,n,p,workers,repeat,seconds,start,loss,recall,cores"
    lines = [
        *(f"threads,regression,1000,8192,1,{i},4.{i},0,0.5,1,2" for i in (0, 2)),
        "threads,regression,1000,8192,2,0,2.05,0,0.5,0.9,2",
        "ray,classes,1000,8192,1,0,6,7.5,0.25,0.5,2",
    ]
    printed = reported("os", {"speedup": [head, *lines]})
    assert "Figure 3: 2 cores" in printed
    row = "| threads | regression | 1000 | 8192 |"
    assert f"{row} 1 | 2 | 0.0 | 4.10 | 1.00 | 0.5 | 1.000 |" in printed
    assert f"{row} 2 | 1 | 0.0 | 2.05 | 2.00 | 0.5 | 0.900 |" in printed
    assert "| 1 | 1 | 7.5 | 6.00 | 1.00 | 0.25 | 0.500 |" in printed
    assert (tmp_path / "speedup.png").stat().st_size > 1000


def test_parts_of_a_benchmark_of_columns_leave_each_other_alone(scripts, tmp_path):
    from benchmarks.columns import Speed, Table
    from papers.results import read_lines

    speed, memory = (Table(part, tmp_path / "all.csv") for part in ("speed", "memory"))
    Speed(speed, 200, 80).compare(10)
    memory.add("peak", n=5, p=7, k=2, megabytes=3.5)
    for table in (speed, memory, speed):
        table.write()
    lines = read_lines(tmp_path / "all.csv")
    assert [line["part"] for line in lines] == ["memory", *["speed"] * 4]
    assert lines[0]["megabytes"] == "3.5"
    by_name = {line["what"]: line for line in lines}
    assert by_name["blocks, same steps"]["same_features"] == "True"
    assert float(by_name["defaults"]["columns_per_s"]) > 0.0


@pytest.mark.parametrize(
    ("script", "words", "files"),
    [
        (
            "filters",
            ["--data", "small", "-k", "3", "--trials", "1", "--out", "few.csv"],
            ["few.csv"],
        ),
        (
            "gsr_cost",
            ["--quick", "--repeats", "1", "--out", "."],
            ["cost.csv", "growth.csv"],
        ),
    ],
)
def test_a_benchmark_runs_and_writes_what_it_found(
    scripts, tmp_path, script, words, files
):
    from papers.results import read_lines

    words = [str(tmp_path / w) if w in ("few.csv", ".") else w for w in words]
    command = [sys.executable, "-m", f"benchmarks.{script}", *words]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "gsr" in done.stdout
    for file in files:
        lines = read_lines(tmp_path / file)
        assert lines
        assert all(float(line["seconds"]) > 0.0 for line in lines)


def test_chains_are_timed_without_their_peer_too(scripts, monkeypatch, capsys):
    from benchmarks import sensors

    def missing(*_):
        raise ImportError

    monkeypatch.setattr(sensors, "crfsuite_seconds", missing)
    monkeypatch.setattr(sys, "argv", ["sensors", "--quick"])
    sensors.main()
    printed = capsys.readouterr().out
    assert "2,700 steps, 40 sensors, 14 activities" in printed
    assert "CRFsuite is not installed" in printed


def test_the_sensor_study_pools_folds_and_draws(scripts, monkeypatch, capsys, tmp_path):
    from papers.foba.sensors import DONE, FACTS, KEYS

    lines = [",".join([*KEYS, *FACTS])]
    for repeat in range(2):
        for fold in range(4):
            place = f"{repeat},{fold}"
            name, counts = ("door", "2/10 0/4") if fold else ("bed", f"{repeat}/10 4/4")
            lines += [
                f"cabin,group,{place},1,4,1,0.2,{counts},{name},",
                f"cabin,group,{place},0,0,0,0.9,0/10 4/4,,",
                f"cabin,group,{place},{DONE},,,,,,1.5",
                f"cabin,l1_refit,{place},0,0,9,0.9,0/10 4/4,,",
                f"cabin,l1_refit,{place},1,2,3,nan,4/10 4/4,{name},",
                f"cabin,l1,{place},{DONE},,,,,,2.5",
            ]
    lines.append("cabin,group,2,0,1,4,1,0.2,10/10 4/4,door,")  # a repeat cut short
    (tmp_path / "sensors.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(sys, "argv", ["report", "--results", str(tmp_path)])
    import_module("papers.foba.sensors_report").main()
    printed = capsys.readouterr().out
    # macro: (6/40 + 4/16) / 2 and (7/40 + 4/16) / 2; plain: 10/56 and 11/56
    assert "repeats: 2" in printed
    assert "| whole sensors, FoBa | 20.6 ± 0.6 (18.75) |" in printed
    assert "- whole sensors, FoBa: door 75, bed 25" in printed
    assert "| cabin | 1 |  |  |  |  |  |  |" in printed  # within two points of all
    assert "| whole sensors, FoBa | 0 (-49.4 ± 0.6) |" in printed
    assert "| cabin | 1.5 |" in printed
    for name in ("sensors", "sensors_activities"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_results_are_taken_up_not_measured_again(scripts, tmp_path, capsys):
    from benchmarks.filters import measure, summarise

    asked = Namespace(method=["mrmr_f", "relieff"], trials=1, k=3)
    few = measure("small", asked, tmp_path / "few.csv")
    asked.trials = 2
    more = measure("small", asked, tmp_path / "few.csv")
    assert [line["method"] for line in few] == ["mrmr_f", "relieff"]
    assert more[:2] == few
    assert sorted(line["trial"] for line in more) == ["0", "0", "1", "1"]
    summarise("small", more)
    assert "| small | relieff | 2 | " in capsys.readouterr().out


def test_figures_are_drawn_of_the_results_there_are(tmp_path):
    fields = [f"top{k}" for k in range(10, 101, 10)]
    rows = [
        ",".join(["small", method, "0", "0.1", "", "", *["0.5"] * len(fields)])
        for method in ("gsr", "mrmr")
    ]
    head = ",".join(["set", "method", "trial", "seconds", "r", "lam", *fields])
    (tmp_path / "accuracy.csv").write_text("\n".join([head, *rows]) + "\n")
    command = [sys.executable, "-m", "papers.gsr.figures", "--results", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "accuracy.png").stat().st_size > 1000
    assert "growth: left out, no growth.csv" in done.stdout


def test_a_ledger_is_taken_up_where_it_was_left(scripts, tmp_path):
    from papers.results import Ledger, read_lines

    path = tmp_path / "results" / "some.csv"
    columns = {"keys": ("set", "split"), "facts": ("share", "other")}
    Ledger(path, **columns).add(("a", 0), {"share": 1 / 3})
    again = Ledger(path, **columns)
    assert ("a", 0) in again
    assert ("a", 1) not in again
    again.add(("a", 1), {"share": 0.5, "other": "x"})
    assert ("a", 1) in again
    assert read_lines(path) == [
        {"set": "a", "split": "0", "share": "0.333333", "other": ""},
        {"set": "a", "split": "1", "share": "0.5", "other": "x"},
    ]


def test_fits_of_mission_are_not_measured_again(scripts, tmp_path, monkeypatch):
    from papers.mission import topk
    from papers.mission.tasks import make
    from papers.results import Ledger, read_lines

    facts = ("test", "held_out", "same")
    ledger = Ledger(tmp_path / "topk.csv", topk.KEYS, facts)
    task = make("small", 0)
    topk.measure(task, ("sgd_iht",), (5,), 1.0, ledger)
    done = read_lines(tmp_path / "topk.csv")
    assert float(done[0]["test"]) > 0.9
    monkeypatch.setattr(topk, "rival", None)  # a fit would fail
    topk.measure(task, ("sgd_iht",), (5,), 1.0, ledger)
    assert read_lines(tmp_path / "topk.csv") == done


def test_tasks_of_dna_test_on_letters_that_were_not_learned_from(scripts):
    from papers.mission.tasks import make

    task = make("small_dna", 0, coverage=0.02)
    assert task.train.region == task.tests["same"].region == (0.0, 0.9)
    assert task.tests["held_out"].region == (0.9, 1.0)
    assert task.train.seed != task.tests["same"].seed
    assert task.n_margins == len(task.classes) == 6
    other = make("small_dna", 1, coverage=0.02)
    first, second = (next(t.train.blocks()) for t in (task, other))
    assert not np.array_equal(first.ids[:50], second.ids[:50])


def test_clicks_with_rare_labels_are_rare_and_follow_the_margins(scripts):
    from papers.mission.skewed import RARE, RareLabels, by_truth

    labels = RareLabels(0)
    y = labels(np.linspace(-5.0, 5.0, 5000), 3)
    assert set(y) == {-1, 1}
    assert (y[:2500] > 0).mean() < (y[2500:] > 0).mean()
    truth = by_truth(0, 5000)
    assert abs(truth["positive"] - RARE) < 0.01
    assert truth["auc"] > 0.9


def test_mission_reports_whatever_results_there_are(reported, tmp_path):
    lines = {
        "topk": [
            "set,split,coverage,k,method,test,held_out,same",
            "a,0,,10,sgd_iht,0.5,,",
            "a,1,,10,sgd_iht,0.7,,",
            "a,0,,0,hashed,0.8,,",
        ],
        "tradeoff": [
            "set,split,coverage,k,ratio,method,cells,test,held_out,same",
            "dna,0,1.0,9,2,mission_paper,54,,0.3,0.4",
            "dna,0,1.0,9,0,batch_iht,54,,0.2,0.3",
        ],
        "rounds": [
            "set,split,coverage,rows,k,method,rounds,seconds,test,held_out,same,planted",
            "clicks,0,,9,5,mission_lazy,1,2.5,0.6,,,0.25",
        ],
        "growth": [
            "what,p,table,method,value",
            "found,500,0,iht,0.4",
            "cells,500,0,mission,90",
        ],
        "drift": [
            "design,rows,k,split,variant,passes,planted,accuracy,stayed,size",
            "clicks,9,5,0,paper,1,0.25,0.6,,1.5",
        ],
        "skewed": [
            "rows,split,k,method,auc,ap,positive",
            "9,0,5,mission_refit,0.9,0.4,0.02",
        ],
        "speed": [
            "set,size,k,repeat,method,seconds",
            "a,9,5,0,hashed,1",
            "a,9,5,0,mission_paper,3",
        ],
    }
    printed = reported("mission", lines)
    assert "| SGD-IHT | 0.600 ± 0.141 |" in printed
    assert "| clicks | MISSION, paper, lazy | 0.250 |" in printed
    assert "dna, held out, coverage 1.0:" in printed
    assert "| MISSION, paper | 3.00 (3.00 to 3.00) |  |" in printed
    for name in ("topk", "tradeoff", "rounds", "growth", "drift"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_data_that_are_missing_are_named(scripts, monkeypatch, tmp_path):
    from benchmarks.data import Missing, load

    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    with pytest.raises(Missing, match=r"colon: no colon.npz in .*SHORTLIST_DATA"):
        load("colon")


def test_data_are_loaded_dense_and_sparse(scripts, monkeypatch, tmp_path):
    from benchmarks.data import load

    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    X, y = np.eye(3, dtype=np.int8), np.array([0, 1, 1])
    np.savez(tmp_path / "dense.npz", X=X, y=y)
    S = csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    np.savez(tmp_path / "sparse.npz", y=y, **parts)
    dense, labels = load("dense")
    sparse, _ = load("sparse")
    assert dense.dtype == sparse.dtype == np.float64
    np.testing.assert_array_equal(dense, sparse.toarray())
    np.testing.assert_array_equal(labels, y)
