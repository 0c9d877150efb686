"""What systemd is told, over a real socket."""

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
    """Where a service manager listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(LONG)
        yield sock


def test_a_whole_life(proxy, worker, manager):
    """Ready when it serves; reloading and ready again, also when the file is wrong; stopping."""
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
    """It is written with an @."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(f"\0steelyard-{os.getpid()}")
        sock.settimeout(LONG)
        Notify({"NOTIFY_SOCKET": f"@steelyard-{os.getpid()}"}).ready()
        assert sock.recv(100) == b"READY=1"


def test_a_manager_that_is_gone_is_no_trouble(tmp_path):
    """And what we start does not hear of it."""
    environ = {"NOTIFY_SOCKET": str(tmp_path / "nobody")}
    Notify(environ).ready()
    assert environ == {}
