"""A private environment in the cache folder, for packages that only the bench compares with."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from steelyard.bench.tools import Say


def cache_folder() -> Path:
    """The folder that survives until the next run (XDG base directories)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard" / "bench"


def venv_python() -> Path:
    """The path of its interpreter, whether it exists or not."""
    return cache_folder() / "venv" / "bin" / "python"


def has(package: str) -> bool:
    """Whether the environment can import a package."""
    return venv_python().exists() and _run([str(venv_python()), "-c", f"import {package}"])


def install(packages: Sequence[str], say: Say) -> None:
    """Install missing packages, one by one: one may have no build for this machine."""
    missing = [package for package in packages if not has(package)]
    if not missing:
        return
    say(f"installing {', '.join(missing)} from PyPI into a private environment")
    if not venv_python().exists() and not _run([sys.executable, "-m", "venv", str(_folder())]):
        return
    for package in missing:
        _run([str(venv_python()), "-m", "pip", "install", "--quiet", package])


def version(package: str) -> str:
    """The version of a package, by its metadata."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    words = [str(venv_python()), "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _folder() -> Path:
    return venv_python().parent.parent


def _run(words: list[str]) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
