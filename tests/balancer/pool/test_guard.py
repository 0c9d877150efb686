"""Tests of ports that another user has taken from a worker: no request goes there."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.balancer.pool.guard import Guard, Guards
from steelyard.cli.boot import serves
from steelyard.peer_owner import PeerOwners
from tests.e2e.conftest import gateway
from tests.e2e.gateway import QUICK, Gateway

__all__ = ["gateway"]  # a fixture

# This program binds a port as soon as the port's owner is gone, and reads whatever comes.
THIEF = """
import os, socket, sys
os.setgid(65534)
os.setuid(65534)
while True:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(("127.0.0.1", int(sys.argv[1])))
        server.listen()
        break
    except OSError:
        server.close()
print("bound", flush=True)
while True:
    connection, _ = server.accept()
    if connection.recv(65536):
        print("stolen", flush=True)
    connection.close()
"""


class Answer(PeerOwners):
    """A stub that says that `owner` owns the other end of every connection."""

    def __init__(self, owner: int | None) -> None:
        self._owner = owner

    def of(self, sock: socket.socket) -> int | None:
        return self._owner


@pytest.mark.parametrize(
    ("before", "now", "admitted"),
    [
        (65534, 65534, True),
        (65534, 65533, False),
        (0, 65534, False),
        (65534, 0, True),  # root can take any port over anyway
        (0, None, True),  # the kernel does not know the owner
    ],
)
def test_a_port_has_to_keep_its_owner(before: int, now: int | None, admitted: bool) -> None:
    """A connection is refused if another user than before, who is not root, owns the port."""
    with socket.socket() as sock:
        assert Guard(before, Answer(now)).admits("w", sock) is admitted


def test_only_what_listens_on_this_machine_is_guarded() -> None:
    """A port of another machine, or one where no program listens, has no known owner."""
    guards = Guards()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        assert guards.guard(socket.AF_INET, address) is not None
    assert guards.guard(socket.AF_INET, address) is None
    assert guards.guard(socket.AF_INET, ("192.0.2.1", 80)) is None


@pytest.mark.needs("root")
async def test_the_port_of_a_killed_worker_is_not_served_from(
    gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    """A port that another user binds before the agent reports the worker's end gets no request."""
    g = gateway("--min", "2", "--max", "2", *QUICK).start()
    await g.ready()
    # Each balancer has to know both workers: it gets no other queue once the agent is suspended.
    told = await g.until(lambda told: serves(told, len(g.children("balancer"))))
    victim = told.workers[0]
    [agent] = g.children("agent")
    log = tmp_path / "thief"
    words = [sys.executable, "-c", THIEF, victim.address.rpartition(":")[2]]
    with log.open("wb") as output:
        thief = await asyncio.create_subprocess_exec(*words, stdout=output, start_new_session=True)
    try:
        agent.suspend()
        os.kill(int(victim.handle), signal.SIGKILL)
        while "bound" not in log.read_text():
            await asyncio.sleep(0.01)
        answers = [await asyncio.to_thread(g.http, "/whoami") for _ in range(40)]
        assert answers == [200] * 40
        assert log.read_text() == "bound\n"
        agent.resume()
        await g.until(lambda now: victim.name not in {one.name for one in now.workers})
    finally:
        thief.kill()
        await thief.wait()
