"""Another user of the machine tries to pass as a worker of a gateway that runs as root."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.runtime.procfs import read_environment, runs_as
from tests import reaper
from tests.e2e.gateway import QUICK, Gateway
from tests.ports import free_port
from tests.runtime.test_strangers import NOBODY

# Prints a line for every connection. The program gives up root by itself, since another user may be
# unable to read this user's Python.
SERVER = """
import os, socket, sys
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    print("connected", flush=True)
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nstolen")
    connection.close()
"""


Pretend = Callable[[dict[str, str], Path], subprocess.Popen[bytes]]


@pytest.fixture
def pretend() -> Iterator[Pretend]:
    """Start servers of another user with given variables; end them after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(variables: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", SERVER, variables["PORT"], str(NOBODY)]
        with log.open("wb") as output:
            started.append(
                subprocess.Popen(
                    words,
                    env={**variables, **reaper.mark()},
                    start_new_session=True,
                    stdout=output,
                )
            )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.needs("root")
async def test_a_stranger_gets_no_request_of_a_root_gateway(
    gateway: Callable[..., Gateway], pretend: Pretend, tmp_path: Path
) -> None:
    """A server of another user carries a worker's marks; the next agent never connects to it."""
    g = gateway("--min", "2", "--max", "4", *QUICK).start()
    await g.ready()
    ours = g.worker_pids()
    marks = {
        name: text
        for name, text in read_environment(min(ours)).items()
        if name.startswith("STEELYARD_")
    }
    marks |= {"STEELYARD_WORKER": "steelyard-app-deadbeef", "STEELYARD_SEAL": "0" * 64}
    log = tmp_path / "connections"
    stranger = pretend({**marks, "PORT": str(free_port())}, log)
    while "listening" not in log.read_text():
        await asyncio.sleep(0.01)
    assert runs_as(stranger.pid, NOBODY)
    [agent] = g.children("agent")
    agent.kill()
    await asyncio.to_thread(agent.wait, 60)
    await g.until(lambda told: f"process {stranger.pid} claims" in g.output() and told.ready == 2)
    answers = [await asyncio.to_thread(g.get, "/whoami") for _ in range(40)]
    assert {answer["pid"] for answer in answers} == ours
    assert log.read_text() == "listening\n"
    assert stranger.poll() is None
