"""slowhttptest in its four modes at once: slow heads, slow bodies, slow readers, many ranges.

They open more connections than the balancer allows, so that waiting for their end does not help.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.gateway import free_port
from tests.e2e.test_balancer_alone import answers

EACH = 300  # connections of each mode
PLACES = 500
SECONDS = 8
# seconds of a normal client: less than the attack, so that waiting for its end would fail
TIMEOUT = 6

pytestmark = pytest.mark.alone

# -i, -n: seconds between two pieces; -s: the announced size of the body; -z: bytes of a read; -w,
# -y: the window; -k: requests on a connection, so that answers outgrow all buffers.
MODES = {
    "H": ("/", "-i 2"),
    "B": ("/upload", "-i 2 -s 8192 -x 10"),
    "X": ("/bytes?size=1000000", "-n 2 -z 8 -w 256 -y 512 -k 3"),
    "R": ("/", ""),
}


@contextlib.contextmanager
def running(*words: str) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def attack(mode: str, site: str, folder: Path) -> list[dict[str, int]]:
    """Run one mode to its end; return its count of connections, second by second."""
    path, options = MODES[mode]
    words = ["slowhttptest", f"-{mode}", *options.split(), "-u", site + path, "-g"]
    words += ["-o", str(folder / mode), "-l", str(SECONDS), "-c", str(EACH), "-r", str(EACH)]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.DEVNULL)
    await process.wait()
    with (folder / f"{mode}.csv").open() as file:
        return [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]


async def ask_until(over: asyncio.Future[object], url: str) -> list[object]:
    """Send one request after the other, each on a connection of its own; return the outcomes."""
    outcomes: list[object] = []
    while not over.done():
        async with httpx.AsyncClient(timeout=TIMEOUT) as client:
            try:
                outcomes.append((await client.get(url)).status_code)
            except httpx.TransportError as error:
                outcomes.append(error)
    return outcomes


@pytest.mark.needs("slowhttptest")
async def test_slow_clients_do_not_make_the_service_unavailable(tmp_path):
    """Every request of a normal client is answered while all four modes attack."""
    port, worker = free_port(), free_port()
    site = f"http://127.0.0.1:{port}"
    words = ["--listen", f"127.0.0.1:{port}", "--worker", f"127.0.0.1:{worker}"]
    words += ["--processes", "1", "--gateway-connections", str(PLACES)]
    with (
        running("steelyard.demo", "--port", str(worker)),
        running("steelyard", "balancer", *words),
    ):
        await answers(f"http://127.0.0.1:{worker}/health")
        await answers(f"{site}/health")
        attacks = asyncio.gather(*(attack(mode, site, tmp_path) for mode in MODES))
        outcomes = await ask_until(attacks, f"{site}/whoami")
        seen = dict(zip(MODES, await attacks, strict=True))
    assert outcomes
    assert set(outcomes) == {200}
    for mode, seconds in seen.items():  # all connections were made
        assert max(row["Closed"] + row["Connected"] for row in seconds) > 0.9 * EACH, mode
    for mode in "HBX":  # these modes kept their connections open
        assert max(row["Connected"] for row in seen[mode]) > 0.5 * EACH, mode
