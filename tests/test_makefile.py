"""The commands of the README."""

from __future__ import annotations

import subprocess
from pathlib import Path


def test_a_demo_is_built_first() -> None:
    """`make demo` compiles the hot path before it serves, so that a first try is not slow."""
    root = Path(__file__).parents[1]
    words = ["make", "--dry-run", "--always-make", "demo"]
    steps = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    assert 0 < steps.find("build_ext --inplace") < steps.find("steelyard demo")
