"""A load generator that counts: every request ends as an answer with a status, or as an error."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager


class Load:
    """Keep-alive connections that send one request after the other until told to stop."""

    def __init__(
        self,
        port: int,
        path: str,
        connections: int = 4,
        method: str = "GET",
        *,
        keep: bool = True,
        host: str = "127.0.0.1",
    ) -> None:
        self.host, self.port = host, port
        last = "" if keep else "Connection: close\r\n"
        start = f"{method} {path} HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n"
        self.head = f"{start}{last}\r\n".encode()
        self.connections = connections
        self.statuses: Counter[int] = Counter()
        self.workers: Counter[str] = Counter()
        self.errors: list[str] = []
        self._stopping = False
        self._progress = asyncio.Condition()

    @property
    def answered(self) -> int:
        return sum(self.statuses.values())

    @property
    def failed(self) -> list[str]:
        """Every outcome but a status of 200."""
        return self.errors + [
            f"status {s}" for s, n in self.statuses.items() if s != 200 for _ in range(n)
        ]

    async def more(self, requests: int, timeout: float = 60) -> None:
        """Wait for this many further answers."""
        goal = self.answered + requests
        async with self._progress:
            done = self._progress.wait_for(lambda: self.answered >= goal)
            await asyncio.wait_for(done, timeout)

    @asynccontextmanager
    async def running(self):
        """Send requests inside the block; afterwards, wait until every open request has ended."""
        tasks = [asyncio.create_task(self._client()) for _ in range(self.connections)]
        try:
            yield self
        finally:
            self._stopping = True
            await asyncio.wait_for(asyncio.gather(*tasks), 60)

    async def _client(self) -> None:
        while not self._stopping:
            try:
                await self._connection()
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                self.errors.append(repr(error))
                await asyncio.sleep(0.01)  # a refused connection must not make this loop spin

    async def _connection(self) -> None:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            keep = True
            while keep and not self._stopping:
                writer.write(self.head)
                keep = await self._answer(reader)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        await reader.readexactly(int(fields["content-length"]))
        async with self._progress:
            self.statuses[int(head[0].split()[1])] += 1
            self.workers[fields.get("x-worker", "")] += 1
            self._progress.notify_all()
        return fields.get("connection") != "close"
