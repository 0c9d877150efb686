"""Processes that must not outlive their parent."""

from __future__ import annotations

import subprocess
import sys

import psutil

from tests.waiting import wait_until

CHILD = (
    "import os, sys, time; from steelyard.parent import end_with; "
    "end_with(int(sys.argv[1])); print(os.getpid(), flush=True); time.sleep(1000)"
)
PARENT = (
    "import os, subprocess, sys; "
    f"subprocess.run([sys.executable, '-c', {CHILD!r}, str(os.getpid())])"
)


def test_a_process_ends_with_its_parent() -> None:
    """A process ends with its parent, even if the parent is killed."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    wait_until(lambda: not psutil.pid_exists(child), 60)


def test_a_process_whose_parent_is_gone_already_ends() -> None:
    """The kernel would not signal a process whose parent has ended before."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "1"], capture_output=True, timeout=60, check=True
    )
    assert done.stdout == b""
