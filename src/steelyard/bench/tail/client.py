"""Asks at Poisson times, whether or not the answers come.

A client that waits for its answers asks a slow proxy less, and so hides how slow it is
("coordinated omission"). So times are counted from the moment when a request was due.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.bench.ports import HOST

LONGEST = 10.0  # seconds after which a request has failed
_REQUEST = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"


class Answer(NamedTuple):
    """One request: how long it took since it was due, and which worker answered; None: none did."""

    seconds: float
    worker: int | None
    late: float = 0.0  # seconds between the due time and our sending: our fault, not the proxy's


class Pool:
    """Connections to the proxy: as many as requests were ever under way at once."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self) -> int:
        """Send a request; return the number of the worker that answered."""
        connection = self._idle.pop() if self._idle else None
        reader, writer = connection or await asyncio.open_connection(HOST, self._port)
        try:
            writer.write(_REQUEST)
            worker = await _read(reader)
        except BaseException:
            writer.close()
            raise
        self._idle.append((reader, writer))
        return worker

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


async def drive(port: int, rate: float, seconds: float, rng: random.Random) -> list[Answer]:
    """Send all requests of a round; return how each ended."""
    loop = asyncio.get_running_loop()
    pool = Pool(port)
    began = loop.time()
    tasks = []
    for due in arrivals(rate, seconds, rng):
        await asyncio.sleep(max(began + due - loop.time(), 0))
        tasks.append(asyncio.create_task(_one(pool, began + due)))
    answers = await asyncio.gather(*tasks)
    pool.close()
    return answers


def arrivals(rate: float, seconds: float, rng: random.Random) -> Iterator[float]:
    """The times of a Poisson process."""
    now = rng.expovariate(rate)
    while now < seconds:
        yield now
        now += rng.expovariate(rate)


async def _one(pool: Pool, due: float) -> Answer:
    loop = asyncio.get_running_loop()
    late = loop.time() - due
    try:
        async with asyncio.timeout(LONGEST):
            worker: int | None = await pool.ask()
    except (OSError, ValueError, asyncio.IncompleteReadError):  # a time-out is an OSError
        worker = None
    return Answer(loop.time() - due, worker, late)


async def _read(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 200"):
        raise ValueError("not answered 200")
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    return int(await reader.readexactly(int(length)))
