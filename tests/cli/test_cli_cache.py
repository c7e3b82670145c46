"""shortlist cache."""

import os
import subprocess
import sys


def cache(*words, folder):
    done = subprocess.run(
        [sys.executable, "-m", "shortlist.cli", "cache", *words],
        env=os.environ | {"SHORTLIST_CACHE": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


def test_info_counts_and_clear_deletes(tmp_path):
    older = tmp_path / "kernels" / "0123456789abcdef"
    older.mkdir(parents=True)
    (older / "kernel.nbc").write_bytes(bytes(2_500_000))
    stdout, stderr = cache("info", folder=tmp_path)
    assert stderr == ""
    lines = dict(line.split("  ", 1) for line in stdout.splitlines())
    assert lines["folder"].strip().startswith(str(tmp_path))
    assert lines["this version"].strip() == "0 files, 0.0 MB"
    assert lines["other versions"].strip() == "1 folder, 2.5 MB"
    stdout, stderr = cache("clear", folder=tmp_path)
    assert (stdout, stderr) == ("", "2.5 MB deleted\n")
    assert not older.exists()


def test_clear_without_a_cache_is_fine(tmp_path):
    assert cache("clear", folder=tmp_path / "none")[1] == "0.0 MB deleted\n"
