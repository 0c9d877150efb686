"""The notifications to systemd, over a real socket."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from steelyard.supervisor.notify import Notify
from tests.supervisor.proxy import LONG


@pytest.fixture
def manager(tmp_path: Path):
    """The socket on which a service manager listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(LONG)
        yield sock


def test_a_whole_life(proxy, worker, manager):
    """A gateway notifies ready, reloading, ready again even with a wrong file, and stopping."""
    environ = {**os.environ, "NOTIFY_SOCKET": manager.getsockname()}
    p = proxy(worker.port).start(env=environ)
    assert manager.recv(100) == b"READY=1"
    for complaint in ("", "unknown key"):
        p.configure(**({"polcy": 1} if complaint else {}))
        p.hang_up()
        assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=[0-9]+", manager.recv(100))
        assert manager.recv(100) == b"READY=1"
        p.says(complaint)
    assert p.close() == 0
    assert manager.recv(100) == b"STOPPING=1"


def test_an_abstract_address():
    """An abstract address begins with an @ in the variable."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(f"\0steelyard-{os.getpid()}")
        sock.settimeout(LONG)
        Notify({"NOTIFY_SOCKET": f"@steelyard-{os.getpid()}"}).ready()
        assert sock.recv(100) == b"READY=1"


def test_a_manager_that_is_gone_is_no_trouble(tmp_path):
    """Errors of the socket are ignored, and the variable is removed from the environment."""
    environ = {"NOTIFY_SOCKET": str(tmp_path / "nobody")}
    Notify(environ).ready()
    assert environ == {}
