"""Programs that the bench needs: found, or installed from Debian's packages.

`python -m steelyard.bench.tools nginx wrk` installs those that are missing, and prints nothing if
none is.
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
    """The path of a program. Servers live in sbin, which is not on every user's PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def install(programs: Iterable[str], say: Say) -> None:
    """Install missing programs, if we may; each package has the name of its program."""
    missing = [program for program in programs if find(program) is None]
    if not missing or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    say(f"installing {', '.join(missing)} from Debian's packages")
    with _no_services():
        if not _apt("install", missing):
            _apt("update", [])  # a fresh image has no package lists
            # One by one: a program that cannot be installed must not keep the others from it.
            for program in missing:
                _apt("install", [program])


def why_missing(program: str) -> str:
    """Why a program is missing; empty if it is not."""
    if find(program) is not None:
        return ""
    if os.geteuid() != 0:
        return f"{program} is not installed, and only root can install it"
    return f"{program} is not installed and could not be"


def first_line(*words: str) -> str:
    """The first line that a program prints about its version."""
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
    """Keep Debian's packages from starting what they install, on port 80 of every address.

    invoke-rc.d(8) asks this script. If there is one already, it belongs to the administrator.
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
