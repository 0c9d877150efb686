"""The lock: one agent for each application."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steelyard.agent.lock import sole_agent
from steelyard.errors import UsageError

HOLD = """
import sys
from pathlib import Path
from steelyard.agent.lock import sole_agent
with sole_agent(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_agent_is_refused_and_told_who_is_first(tmp_path):
    """The error of a second agent has the pid of the first."""
    with (
        sole_agent(tmp_path / "app"),
        pytest.raises(
            UsageError, match=rf"application app is already running \(pid {os.getpid()}\)"
        ),
        sole_agent(tmp_path / "app"),
    ):
        pass


def test_the_lock_goes_with_a_killed_agent(tmp_path):
    """`kill -9` leaves no stale lock behind."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "app")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        other.kill()
        other.wait()
        with sole_agent(tmp_path / "app"):
            assert (tmp_path / "app" / "agent.lock").read_text() == f"pid {os.getpid()}\n"


def test_a_folder_that_cannot_be_is_told(tmp_path):
    """The error says that the folder cannot be used, here because a file is in its place."""
    (tmp_path / "state").write_text("")
    with pytest.raises(UsageError, match="cannot be used"), sole_agent(tmp_path / "state" / "app"):
        pass


def test_agents_with_a_lease_share_it_and_let_no_other_in(tmp_path):
    """Agents with a lease share the lock; an agent without one excludes them, and they it."""
    with (
        sole_agent(tmp_path / "app", shared=True),
        sole_agent(tmp_path / "app", shared=True),
        pytest.raises(UsageError, match="with --lease"),
        sole_agent(tmp_path / "app"),
    ):
        pass
    with (
        sole_agent(tmp_path / "app"),
        pytest.raises(UsageError, match="all of them have --lease"),
        sole_agent(tmp_path / "app", shared=True),
    ):
        pass
