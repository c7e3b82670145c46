"""A loss defined outside the package works everywhere and leaves no trace on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# Quantile regression: the loss whose minimiser is the tau-quantile.
OUTSIDE = """
from typing import NamedTuple
from shortlist.losses import register


@register("pinball", "quantile", target="real")
class Pinball(NamedTuple):
    tau: float = 0.5

    @staticmethod
    def value(loss, y, z):
        return max(loss.tau * (y - z), (loss.tau - 1.0) * (y - z))

    @staticmethod
    def slope(loss, y, z):
        return -loss.tau if z < y else 1.0 - loss.tau

    @staticmethod
    def curvature(loss, y, z):
        return 0.0

    @staticmethod
    def response(loss, z):
        return z
"""

USE = """
import json
import numpy as np
import outside
from shortlist.losses import Squared, get_loss, value
from shortlist.losses.arrays import total_loss
from shortlist.objectives import LinearObjective

rng = np.random.default_rng(0)
y, Z, weight = rng.normal(size=50), rng.normal(size=(50, 1)), np.ones(50)
loss = get_loss("quantile:0.9")
print(json.dumps({
    "python": sum(value(loss, y[i], Z[i, 0]) for i in range(50)),
    "compiled": total_loss(loss, y, Z, weight),
    "ours": total_loss(Squared(), y, Z, weight),  # stored, in the same index
    "quantile": LinearObjective(loss, Z, y).refit(np.array([], int)).nuisance[0],
}))
"""

WITHOUT = """
import json
import numpy as np
from shortlist.losses import Squared, loss_names
from shortlist.losses.arrays import total_loss
from shortlist.objectives import LinearObjective

y, Z = np.arange(4.0), np.zeros((4, 1))
fit = LinearObjective("squared", Z, y).refit(np.array([0]))
print(json.dumps({
    "total": total_loss(Squared(), y, Z, np.ones(4)),
    "intercept": fit.nuisance[0],
    "names": loss_names(),
}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "outside.py").write_text(OUTSIDE)
    return folder


def run(script, folder, *, see_outside):
    env = os.environ | {"SHORTLIST_CACHE": str(folder / "cache")}
    env["PYTHONPATH"] = str(folder) if see_outside else ""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_outside_loss_works_and_never_poisons_the_cache(folder):
    first = run(USE, folder, see_outside=True)
    assert first["compiled"] == pytest.approx(first["python"], rel=1e-13)
    y = np.random.default_rng(0).normal(size=50)
    assert np.sort(y)[44] - 1e-9 <= first["quantile"] <= np.sort(y)[45] + 1e-9
    stored = [path.read_bytes() for path in Path(folder / "cache").rglob("*.nb?")]
    assert any(b"Squared" in content for content in stored)
    assert not any(b"outside" in content for content in stored)

    # without the class, whatever the first process stored must be readable
    (folder / "outside.py").rename(folder / "hidden.txt")
    second = run(WITHOUT, folder, see_outside=False)
    assert second["total"] == 7.0
    assert second["intercept"] == pytest.approx(1.5)
    assert "pinball" not in second["names"]
