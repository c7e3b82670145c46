"""The guide to adding a loss does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-loss.md"


def test_the_code_of_the_guide_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.M | re.S)
    assert len(blocks) >= 4
    script = tmp_path / "guide.py"
    script.write_text("\n".join(blocks) + "\nprint('done')\n")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
