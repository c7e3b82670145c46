"""The cache of compiled kernels: hit when it may be, missed when it must be.

Everything runs in processes of its own, on a copy of the package that may be edited.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import shortlist
from shortlist.kernels._jit import _ABOVE_KERNELS, PACKAGE

SCRIPT = """
import json
import sys
import numpy as np
from shortlist.kernels._jit import compiled_here
from shortlist.kernels.heavy_hitters import candidates, listed
from shortlist.losses import Squared
from shortlist.losses.arrays import total_loss

total = total_loss(Squared(), np.zeros(2), np.full((2, 1), 2.0), np.ones(2))
assert len(listed(candidates(4, 1), 0)) == 0  # a kernel that makes an array
loaded = len({"numba.np.arraymath", "numba.np.arrayobj"} & set(sys.modules))
print(json.dumps({"total": total, "compiled": compiled_here(), "loaded": loaded}))
"""
AGAIN = {"total": 4.0, "compiled": 0, "loaded": 0}

INFO = """
import json
from shortlist.kernels import _jit
before = _jit.cache_info()
_jit.clear_cache()
print(json.dumps({
    "before": before,
    "folder": str(_jit.cache_dir()),
    "after": _jit.cache_info(),
    "left": (_jit.cache_root() / "kernels").exists(),
}))
"""


class Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder):
        self.cache = folder / "cache"
        self.source = folder / "src"
        package = Path(shortlist.__file__).parent
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, self.source / "shortlist", ignore=ignored)

    def run(self, script=SCRIPT, **environment):
        env = os.environ | {
            "PYTHONPATH": str(self.source),
            "SHORTLIST_CACHE": str(self.cache),
        }
        env.pop("SHORTLIST_QUIET", None)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env=env | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr.splitlines()

    def edit(self, path, old, new):
        file = self.source / "shortlist" / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def folders(self):
        return {path.name for path in (self.cache / "kernels").iterdir()}


@pytest.fixture
def package(tmp_path):
    return Copy(tmp_path)


def test_second_process_compiles_nothing_and_an_edited_loss_recompiles(package):
    kernel_file = package.source / "shortlist" / "losses" / "arrays.py"
    text = kernel_file.read_text()
    first, said = package.run()
    assert first["total"] == 4.0
    assert first["compiled"] > 0
    assert first["loaded"] == 2  # what numba needs to compile, and nobody to read
    assert said == ["shortlist: compiling kernels, first run only"]

    second, said = package.run()
    assert second == AGAIN
    assert said == []

    package.edit(
        "losses/pointwise.py", "0.5 * (z - y) * (z - y)", "0.25 * (z - y) ** 2"
    )
    third, _ = package.run()
    assert third["total"] == 2.0
    assert third["compiled"] > 0
    assert kernel_file.read_text() == text
    # the folder of the digest before is recent, so it stays
    assert len(package.folders()) == 2


def test_an_edit_above_all_kernels_compiles_nothing(package):
    package.run()
    package.edit("cli/select.py", '"""', '# edited\n"""')
    again, said = package.run()
    assert again == AGAIN
    assert said == []
    assert len(package.folders()) == 1


def test_layers_outside_the_digest_have_no_kernels():
    for name in _ABOVE_KERNELS:
        files = list((PACKAGE / name).rglob("*.py"))
        assert files
        assert not [file for file in files if "@kernel" in file.read_text()]


def test_only_folders_unused_for_a_month_are_pruned(package):
    kernels = package.cache / "kernels"
    for name, days in (("stale", 40), ("recent", 5)):
        (kernels / name).mkdir(parents=True)
        (kernels / name / "kernel.nbc").write_bytes(b"compiled")
        used = time.time() - days * 24 * 3600
        os.utime(kernels / name, (used, used))
    package.run("from shortlist.kernels._jit import cache_dir; cache_dir(); print(0)")
    assert "recent" in package.folders()
    assert "stale" not in package.folders()
    assert len(package.folders()) == 2


def test_a_cache_that_cannot_be_written_breaks_nothing(package, tmp_path):
    # a path below a file cannot be created, whoever asks (root may write anywhere else)
    (tmp_path / "file").write_text("in the way")
    result, said = package.run(SHORTLIST_CACHE=str(tmp_path / "file" / "cache"))
    assert result["total"] == 4.0
    assert len(said) == 1


def test_clearing_removes_what_the_information_lists(package):
    _, said = package.run(SHORTLIST_QUIET="1")
    assert said == []  # compiling is silent if asked
    older = package.cache / "kernels" / "older"
    older.mkdir()
    (older / "kernel.nbc").write_bytes(b"12345")
    files = [p for p in (package.cache / "kernels").rglob("*.nb?") if p.parent != older]
    expected = (len(files), sum(path.stat().st_size for path in files))

    told, _ = package.run(INFO)
    assert (told["before"]["files"], told["before"]["bytes"]) == expected
    assert (told["before"]["older_folders"], told["before"]["older_bytes"]) == (1, 5)
    assert told["before"]["folder"] == told["folder"]
    after = told["after"]
    assert (after["files"], after["bytes"], after["older_folders"]) == (0, 0, 0)
    assert not told["left"]
