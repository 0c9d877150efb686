"""Prints the Pythons of this machine that Steelyard supports, as lines `VERSION=PATH`.

They are searched on PATH and among the versions of pyenv, whose shims on PATH refuse to run any
version but the chosen one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

OLDEST = (3, 11)
_NAME = re.compile(r"python3\.\d+")
_ASK = "import sys; v = sys.version_info; print(v.major, v.minor, v.releaselevel)"


def found(environment: Mapping[str, str]) -> dict[tuple[int, int], Path]:
    """The first Python found of each supported version, oldest version first."""
    pythons: dict[tuple[int, int], Path] = {}
    for file in _candidates(environment):
        version = _version(file)
        if version is not None and version >= OLDEST:
            pythons.setdefault(version, file)
    return dict(sorted(pythons.items()))


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    folders = [Path(entry) for entry in environment.get("PATH", "").split(os.pathsep) if entry]
    home = Path(environment.get("HOME", "/"))
    pyenv = Path(environment.get("PYENV_ROOT", home / ".pyenv"))
    folders += sorted(pyenv.glob("versions/*/bin"))
    for folder in folders:
        yield from sorted(file for file in folder.glob("python3.*") if _NAME.fullmatch(file.name))


def _version(file: Path) -> tuple[int, int] | None:
    """The version of this Python; None if it is a pre-release, or does not run."""
    try:
        done = subprocess.run([file, "-c", _ASK], capture_output=True, text=True, check=True)
        major, minor, level = done.stdout.split()
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    return (int(major), int(minor)) if level == "final" else None


if __name__ == "__main__":
    for (major, minor), file in found(os.environ).items():
        sys.stdout.write(f"{major}.{minor}={file}\n")
