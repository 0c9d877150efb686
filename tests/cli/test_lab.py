"""`steelyard lab`, run as users run it."""

from __future__ import annotations

import subprocess
import sys

# As on a machine without the extra: numpy and matplotlib cannot be found.
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "matplotlib"}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
from steelyard.cli.main import run
run()
"""


def run(*words: str, program: tuple[str, ...] = ("-m", "steelyard")):
    return subprocess.run(
        [sys.executable, *program, *words], capture_output=True, text=True, timeout=120
    )


def test_without_its_libraries_the_lab_says_how_to_get_them():
    """And every other command works."""
    done = run("lab", "validate", program=("-c", WITHOUT))
    assert done.returncode == 1
    assert "the lab needs numpy" in done.stderr
    assert "pip install 'steelyard[lab]'" in done.stderr
    assert run("--version", program=("-c", WITHOUT)).returncode == 0
