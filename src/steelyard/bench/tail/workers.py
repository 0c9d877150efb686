"""`python -m … SEED PORT=RATE …`: servers with exponential service times, one request at a time."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Iterable

from steelyard.bench.ports import HOST

END_OF_HEAD = b"\r\n\r\n"
READY = "/ready"  # it is answered at once, and does not use up a service time
_ASKS = f"GET {READY} ".encode()


class Desk:
    """Serves one request after the other, in the order of their arrival.

    The end of each service is calculated, not slept for: a timer that wakes us a millisecond late
    makes one answer late, but must not make the worker slower than its rate.
    """

    def __init__(self, rate: float, rng: random.Random) -> None:
        self._rate = rate
        self._rng = rng
        self._free_at = 0.0

    def finish(self, now: float) -> float:
        """When a request that arrives now will be done."""
        self._free_at = max(now, self._free_at) + self._rng.expovariate(self._rate)
        return self._free_at


class Server(asyncio.Protocol):
    """One connection to a worker: GET in, the worker's number out."""

    def __init__(self, desk: Desk, number: int) -> None:
        self._desk = desk
        text = str(number).encode()
        self._answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text)
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a TCP server
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        while END_OF_HEAD in self._data:
            head, _, self._data = self._data.partition(END_OF_HEAD)
            if head.startswith(_ASKS):
                self._reply()
            else:
                loop = asyncio.get_running_loop()
                loop.call_at(self._desk.finish(loop.time()), self._reply)

    def _reply(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._answer)


async def serve(seed: int, places: Iterable[tuple[int, float]]) -> None:
    """Serve until the process is ended."""
    loop = asyncio.get_running_loop()
    for number, (port, rate) in enumerate(places):
        desk = Desk(rate, random.Random(f"{seed} {number}"))
        await loop.create_server(_factory(desk, number), HOST, port, backlog=1024)
    await asyncio.Event().wait()


def _factory(desk: Desk, number: int) -> Callable[[], Server]:
    return lambda: Server(desk, number)


def _place(text: str) -> tuple[int, float]:
    port, _, rate = text.partition("=")
    return int(port), float(rate)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), [_place(text) for text in sys.argv[2:]]))
