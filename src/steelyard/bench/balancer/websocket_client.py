"""`python -m … PORT SECONDS CONNECTIONS`: on each connection, sends a message and waits for it.

It prints its counts in the same form as the script of wrk.
"""

from __future__ import annotations

import asyncio
import sys
import time

from steelyard.bench.balancer.counts import Counts
from steelyard.bench.balancer.frames import END_OF_HEAD, FROM_CLIENT, FROM_SERVER, HANDSHAKE
from steelyard.bench.ports import HOST
from steelyard.bench.stats import percentile


class Talk(asyncio.Protocol):
    """One connection with one message under way."""

    def __init__(self, times: list[float]) -> None:
        self.failed = False
        self.over = False
        self._times = times
        self._opened = False
        self._missing = 0  # bytes of the answer that have not come yet
        self._head = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a TCP client
        self._transport = transport
        transport.write(HANDSHAKE)

    def data_received(self, data: bytes) -> None:
        if not self._opened:
            self._open(data)
            return
        self._missing -= len(data)
        if self._missing == 0:
            self._times.append(time.perf_counter() - self._sent)
            self._send()
        elif self._missing < 0:
            self._fail()

    def connection_lost(self, error: Exception | None) -> None:
        self.failed |= not self.over

    def close(self) -> None:
        self.over = True
        self._transport.close()

    def _open(self, data: bytes) -> None:
        self._head += data
        if END_OF_HEAD not in self._head:
            return
        if self._head.startswith(b"HTTP/1.1 101"):
            self._opened = True
            self._send()
        else:
            self._fail()

    def _fail(self) -> None:
        self.failed = True
        self._transport.close()

    def _send(self) -> None:
        if not self.over:
            self._missing = len(FROM_SERVER)
            self._sent = time.perf_counter()
            self._transport.write(FROM_CLIENT)


async def talk(port: int, seconds: float, connections: int) -> Counts:
    """Run all connections for so many seconds."""
    loop = asyncio.get_running_loop()
    times: list[float] = []
    began = time.perf_counter()
    talks = []
    for _ in range(connections):
        _, one = await loop.create_connection(lambda: Talk(times), HOST, port)
        talks.append(one)
    await asyncio.sleep(seconds)
    for one in talks:
        one.close()
    return Counts(
        requests=len(times),
        seconds=time.perf_counter() - began,
        bytes=len(times) * len(FROM_SERVER),
        p50_us=(percentile(times, 50) or 0) * 1e6,
        p99_us=(percentile(times, 99) or 0) * 1e6,
        errors=sum(one.failed for one in talks),
    )


if __name__ == "__main__":
    sys.stdout.write(
        asyncio.run(talk(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))).line()
    )
