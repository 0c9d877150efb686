"""Sends a small answer in one piece.

uvicorn writes head and body apart: two system calls and two packets for an answer of a few bytes,
and a balancer in front has to wake twice. The cork joins the writes of one turn of the event loop.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

_FULL = 64 * 1024  # bytes; more are passed on at once, so that back-pressure works


class Cork:
    """A transport that joins writes, and passes everything else on."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._pending: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        if not data:
            return
        if not self._pending:
            self._loop.call_soon(self.flush)
        self._pending.append(data)
        self._size += len(data)
        if self._size >= _FULL:
            self.flush()

    def flush(self) -> None:
        if self._pending:
            joined, self._pending, self._size = b"".join(self._pending), [], 0
            self._transport.write(joined)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class OneWriteProtocol(H11Protocol):
    """uvicorn's HTTP protocol behind a cork."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast("asyncio.Transport", Cork(transport)))
