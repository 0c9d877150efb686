"""On a full disk of the state folder, requests go on, workers are replaced, and a note says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.runtime.room import RESERVE
from tests.e2e.gateway import QUICK, Gateway
from tests.e2e.load import Load

pytestmark = pytest.mark.alone

SIZE = 16 * 1024 * 1024
# Prints a line for each request, and ends if a line cannot be printed, as many programs do.
TALKATIVE = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        try:
            os.write(1, b"%d %s\\n" % (os.getpid(), b"x" * 2000))
        except OSError:
            os._exit(1)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """Fill all the room that is left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return filler


def full(told) -> bool:
    return any("disk of the state folder is full" in note for note in told.notes)


@pytest.fixture
def home(small_disk: Path, tmp_path: Path) -> Iterator[Gateway]:
    command = (sys.executable, "-c", TALKATIVE, "{port}")
    flags = ("--min", "2", "--max", "2", "--health-path", "/", *QUICK)
    gateway = Gateway(small_disk / "state", *flags, command=command)
    gateway.log = tmp_path / "up.log"  # the log of `up` must not need the full disk
    yield gateway
    gateway.halt()
    gateway.destroy()


async def kill_worker(g: Gateway, pid: int) -> None:
    """Kill a worker, and wait until another one has replaced it."""
    os.kill(pid, signal.SIGKILL)
    await g.until(
        lambda told: told.ready == 2 and str(pid) not in {one.handle for one in told.workers}
    )


@pytest.mark.timeout(600)
async def test_requests_go_on_and_workers_are_replaced_on_a_full_disk(home, small_disk):
    """No request fails; killed workers and a killed agent come back; the note appears and goes."""
    g = home.start()
    await g.ready()
    load = Load(g.port, "/", connections=2)
    async with load.running():
        await load.more(50)
        filler = fill(small_disk)
        await g.until(full)
        workers = g.worker_pids()
        await load.more(2 * RESERVE // 2000)  # more than the reserved room
        assert g.worker_pids() == workers

        for victim in sorted(workers):
            await kill_worker(g, victim)
        replaced = g.worker_pids()
        await load.more(500)
        assert g.worker_pids() == replaced

        agent = g.children("agent")[0]
        agent.kill()
        await g.until(lambda told: g.children("agent") not in ([], [agent]) and full(told))
        assert g.worker_pids() == replaced
        await load.more(100)

        filler.unlink()
        told = await g.until(lambda told: not told.notes)
        assert told.ready == 2
        await kill_worker(g, min(replaced))
        await load.more(100)
    assert load.failed == []
    fresh = g.worker_pids() - replaced
    lines = g.cli("logs", "--probes", "--lines", "1000").stdout
    assert any(f"| {pid} x" in lines for pid in fresh)
    assert g.output().count("the disk of the state folder is full") == 2  # one for each agent
    assert g.output().count("there is room again") == 1
    assert g.stop() == 0
    assert g.worker_pids() == set()
