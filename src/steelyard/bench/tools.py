"""Programs that the bench needs: found, or installed from Debian's packages.

`python -m steelyard.bench.tools nginx wrk` installs what is missing, and says nothing otherwise.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

Say = Callable[[str], None]

POLICY = Path("/usr/sbin/policy-rc.d")
_APT = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]


def find(program: str) -> str | None:
    """Its path; servers live in sbin, which is not on every user's PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def install(programs: Iterable[str], say: Say) -> None:
    """Install what is missing, where we may; the packages have the programs' names."""
    missing = [program for program in programs if find(program) is None]
    if not missing or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    say(f"installing {', '.join(missing)} from Debian's packages")
    with _no_services():
        if not _apt("install", missing):
            _apt("update", [])  # a fresh image has no lists
            for program in missing:  # one that cannot be had must not take the others with it
                _apt("install", [program])


def why_missing(program: str) -> str:
    """Empty when it is there."""
    if find(program) is not None:
        return ""
    if os.geteuid() != 0:
        return f"{program} is not installed, and only root can install it"
    return f"{program} is not installed and could not be"


def first_line(*words: str) -> str:
    """What a program says about its version."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return next(iter((done.stdout + done.stderr).strip().splitlines()), "unknown")


def _apt(verb: str, packages: list[str]) -> bool:
    words = [*_APT, verb, "--yes", "--no-install-recommends", *packages]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, env=environment, capture_output=True, check=False)
    return done.returncode == 0


@contextmanager
def _no_services() -> Iterator[None]:
    """Debian's packages start what they install, on port 80 of every address: not for a bench.

    invoke-rc.d(8) asks this script; one that is there already is the administrator's.
    """
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


if __name__ == "__main__":
    install(sys.argv[1:], lambda line: print(line, flush=True))  # noqa: T201
