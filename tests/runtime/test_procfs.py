"""Reading /proc, and signals that cannot reach the wrong process."""

from __future__ import annotations

import os
import signal
import subprocess

from steelyard.runtime.procfs import Process, parse_stat, read_environment, read_stat, send


def test_name_with_brackets_does_not_shift_fields() -> None:
    """The name of a process may contain anything."""
    fields = b"S 7 8 9 0 -1 0 0 0 0 0 100 50 30 20 20 0 1 0 4242 " + b"0 " * 30
    stat = parse_stat(5, b"5 (a) R 1 (b) " + fields)
    assert (stat.parent, stat.group, stat.session) == (7, 8, 9)
    assert stat.process == Process(5, 4242)
    assert stat.cpu_seconds == 200 / os.sysconf("SC_CLK_TCK")
    assert stat.alive


def test_own_process() -> None:
    """The facts read about this process agree with the system calls."""
    stat = read_stat(os.getpid())
    assert stat is not None
    assert (stat.parent, stat.group, stat.session) == (os.getppid(), os.getpgrp(), os.getsid(0))
    assert stat.cpu_seconds > 0


def test_zombie_is_not_alive() -> None:
    """An ended child that nobody waited for exists, but does not live."""
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    stat = read_stat(child.pid)
    assert stat is not None
    assert not stat.alive
    assert read_environment(child.pid) == {}
    child.wait()
    assert read_stat(child.pid) is None


def test_signal_never_reaches_a_later_process_of_the_pid() -> None:
    """A process with the same pid, but another start, gets no signal."""
    child = subprocess.Popen(["sleep", "1000"])
    stat = read_stat(child.pid)
    assert stat is not None
    send(Process(child.pid, stat.process.started - 1), signal.SIGKILL)
    send(stat.process, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    send(stat.process, signal.SIGKILL)  # the process is gone, and nothing happens
