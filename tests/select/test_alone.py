"""`steelyard.select` is usable without the rest."""

from __future__ import annotations

import subprocess
import sys

LOOK = """
import sys
before = set(sys.modules)
import steelyard.select
new = {name.partition(".")[0] for name in set(sys.modules) - before}
compiled = {name for name in new if "cython" in name}  # what extension modules share
print(*sorted(new - sys.stdlib_module_names - compiled))
print(*sorted(name for name in sys.modules if name.startswith("steelyard.")))
"""


def test_importing_it_pulls_in_nothing_but_the_standard_library() -> None:
    """Importing `steelyard.select` loads no other package, and of ours only this one."""
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    packages, modules = done.stdout.splitlines()
    assert packages == "steelyard"
    ours = set(modules.split()) - {"steelyard.purity"}  # it decides which build is loaded
    assert all(name.startswith("steelyard.select") for name in ours)
