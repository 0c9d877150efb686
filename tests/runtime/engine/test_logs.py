"""The log of a worker that printed very much: the engine sends all of it, and we keep 4 MiB.

An HTTP server plays the engine, as a real one would first have to be given so much text.
"""

from __future__ import annotations

import asyncio
import os
import struct
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import aiohttp
import pytest
from aiodocker import Docker
from aiohttp import web

from steelyard.runtime.engine.logs import Source, keep_log, read_log, worker_lines
from steelyard.runtime.log_text import CUT, MOST
from steelyard.runtime.logfiles import LogFiles

LINE = 16 * 1024 - 100  # bytes of a line, with its number in front
COUNT = 4000  # lines: some 64 MB, twice as much as LOG_OPTIONS let an engine keep
STAMP = b"2026-11-18T10:00:00.000000001Z "


async def tell(request: web.Request) -> web.StreamResponse:
    """Send the log, or answer the first request of a client."""
    if not request.path.endswith("/logs"):
        return web.json_response({"ApiVersion": "1.43"})
    answer = web.StreamResponse()
    await answer.prepare(request)
    if "/broken/" in request.path:  # the engine dies in the middle of a frame
        await answer.write(struct.pack(">BxxxL", 1, 100) + b"half")
        assert request.transport is not None
        request.transport.abort()
        return answer
    stamp = STAMP if request.query.get("timestamps") in ("1", "true", "True") else b""
    for number in range(COUNT):
        text = stamp + b"%d " % number + b"x" * LINE + b"\n"
        await answer.write(struct.pack(">BxxxL", 1, len(text)) + text)
    return answer


@pytest.fixture
async def client() -> AsyncIterator[Docker]:
    """A connection to an engine with a long log."""
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", tell)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with Docker(f"http://127.0.0.1:{runner.addresses[0][1]}") as made:
        yield made
    await runner.cleanup()


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Tells the most bytes that were held at once since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


async def test_of_a_log_4_mib_are_kept(client: Docker, peak) -> None:
    """The last 4 MiB are kept, and a mark says that the beginning is cut."""
    text = await read_log(client, "containers/one", 100_000)
    assert peak() < COUNT * LINE / 2
    assert MOST - 2 * LINE < len(text) <= MOST + len(CUT)
    assert text.startswith(CUT.decode())
    assert text.splitlines()[-1].startswith(f"{COUNT - 1} ")


async def test_of_lines_4_mib_are_kept(client: Docker, peak, tmp_path: Path) -> None:
    """The same bound holds for lines that are merged with those of other workers."""
    source = Source(client, "containers/one", asyncio.Event())
    told = worker_lines(source, LogFiles(tmp_path), "one", 100_000, lambda line: True, follow=False)
    lines = [line async for line in told]
    assert peak() < COUNT * LINE / 2
    assert MOST - 2 * LINE < sum(len(line.text) for line in lines) <= MOST
    assert lines[-1].text.startswith(f"{COUNT - 1} ")


async def test_an_engine_that_dies_in_the_middle_of_a_log_costs_only_the_log(
    client: Docker, tmp_path: Path
) -> None:
    """The task that sees to a worker's end goes on; aiohttp's own error would have ended it."""
    logs = LogFiles(tmp_path)
    with pytest.raises(aiohttp.ClientError):
        await read_log(client, "containers/broken", 10)
    await keep_log(client, "containers/broken", "one", logs)
    assert not os.listdir(tmp_path)
