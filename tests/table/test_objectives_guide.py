"""The guide to objectives of one's own works as written, and in under 30 lines."""

import re
from pathlib import Path

import numpy as np
import pytest

from reference.foba import correlated
from shortlist.objectives import GramObjective
from shortlist.table import Settings, Units, foba

GUIDE = (Path(__file__).parents[2] / "docs" / "objectives.md").read_text()
CODE = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def correlations():
    """The class that the guide writes."""
    scope = {"__name__": "guide"}
    exec(compile(CODE[0], "objectives.md", "exec"), scope)
    return scope["Correlations"]


def test_the_guide_prints_what_it_says(capsys):
    scope = {"__name__": "guide"}
    for block in CODE:
        exec(compile(block, "objectives.md", "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 6
    assert all(f"`{line}`" in GUIDE for line in printed)


def test_the_example_is_short():
    lines = CODE[0].splitlines()
    assert len(lines) < 30
    assert max(map(len, lines)) <= 88


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
@pytest.mark.parametrize("overshoot", [0.0, 0.5])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_its_path_is_that_of_the_table(correlations, l2, overshoot, criterion):
    X, y, _ = correlated(0, p=20, s=6)
    y = (y - y.mean()) / y.std()
    R = np.corrcoef(X, y, rowvar=False)
    own = correlations(R[:-1, :-1], R[:-1, -1], l2)
    asked = Settings(8, criterion=criterion, overshoot=overshoot)
    ours = foba(own, Units(20), asked)
    table = foba(GramObjective(X, y, l2=l2), Units(20), asked)
    assert ours.n_backward == table.n_backward > 0
    for which in ("latest", "best"):
        steps, expected = getattr(ours, which), getattr(table, which)
        assert sorted(steps) == sorted(expected)
        for size in steps:
            assert steps[size].units == expected[size].units
            np.testing.assert_allclose(
                steps[size].fit.value, expected[size].fit.value - 0.5, atol=1e-9
            )
