"""`steelyard bench lab`, run as users run it."""

from __future__ import annotations

import json
import subprocess
import sys


def test_every_simulation_is_timed(tmp_path):
    """The shortest run prints figures as JSON and writes them to the document's section."""
    file = tmp_path / "benchmarks.md"
    words = ["bench", "lab", "--requests", "1000", "--json", "--out", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    speeds = json.loads(done.stdout)["speeds"]
    assert [one["name"] for one in speeds][:2] == ["M/M/1", "weighted_ring of 8"]
    assert all(one["seconds"] > 0 and one["requests"] == 1000 for one in speeds)
    assert "| shortest_wait of 8 | 1,000 |" in file.read_text()
