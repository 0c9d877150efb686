"""Scrape: `GET /metrics` on a port of its own, answered by the supervisor for all its balancers.

A scrape of the gateway's own port would reach one of the processes, and each time another one.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from steelyard.config.values import Address
from steelyard.sockets import listen
from steelyard.supervisor.board import Board
from steelyard.supervisor.metrics import expose

PATH = b"/metrics"
HEAD = 16 * 1024  # bytes
PATIENCE = 10.0  # seconds for a request and its answer


class Scrape:
    """An HTTP server small enough to be read at a glance: one request for each connection."""

    def __init__(self, address: Address) -> None:
        self._policy: Callable[[], str] = str
        self._board = Board()
        self._socket: socket.socket = listen(address, 64, "--metrics")
        self._tasks: list[asyncio.Task[None]] = []
        self.address = Address(address.host, self._socket.getsockname()[1])

    @property
    def board(self) -> str:
        """The token by which balancers find the board."""
        return self._board.token

    def start(self, policy: Callable[[], str]) -> None:
        """Begin to serve; `policy` returns the selection policy, which a reload may change."""
        self._policy = policy
        self._tasks = [
            asyncio.create_task(self._board.serve()),
            asyncio.create_task(self._serve_all()),
        ]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.close()
        self._board.close()

    async def _serve_all(self) -> None:
        server = await asyncio.start_server(self._serve, sock=self._socket, limit=HEAD)
        await server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a timeout is an OSError; a client without a proper request gets no answer
        finally:
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        start, *lines = head.split(b"\r\n")
        method, _, rest = start.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in (b"GET", b"HEAD"):
            return _message("405 Method Not Allowed", "text/plain", b"GET only\n", method)
        if path != PATH:
            return _message("404 Not Found", "text/plain", b"the metrics are at /metrics\n", method)
        text, kind = expose(self._board.accounts, self._policy(), _accept(lines))
        return _message("200 OK", kind, text, method)


def _accept(lines: list[bytes]) -> str:
    values = [
        line.partition(b":")[2].strip() for line in lines if line.lower().startswith(b"accept:")
    ]
    return b",".join(values).decode("latin-1")


def _message(status: str, kind: str, body: bytes, method: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if method == b"HEAD" else body)
