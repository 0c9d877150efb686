"""One request and its answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from steelyard.demo.query import Query

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]


class Exchange:
    """A request's parts, and the ways to answer it. Every answer names the worker."""

    def __init__(self, scope: Message, receive: Receive, send: Send, worker: str) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query_text: str = scope["query_string"].decode("latin-1")
        self.query = Query(scope["query_string"])
        self.headers: Headers = list(scope["headers"])
        self._receive = receive
        self._send = send
        self._worker = worker

    def header(self, name: bytes) -> bytes | None:
        return next((value for key, value in self.headers if key == name), None)

    async def body(self) -> AsyncIterator[bytes]:
        """The pieces of the request's body, as they come."""
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError
            more = message.get("more_body", False)
            yield message.get("body", b"")

    async def gone(self) -> None:
        """Return when the client has hung up."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def start(self, status: int, headers: Headers) -> None:
        named = [*headers, (b"x-worker", self._worker.encode("latin-1", "replace"))]
        await self._send({"type": "http.response.start", "status": status, "headers": named})

    async def write(self, data: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def reply(self, data: bytes, kind: bytes, status: int = 200) -> None:
        """Send a whole answer. If nobody read the request's body, uvicorn skips it."""
        length = (b"content-length", str(len(data)).encode())
        await self.start(status, [(b"content-type", kind), length])
        await self.write(data, more=False)

    async def text(self, text: str, status: int = 200) -> None:
        await self.reply(f"{text}\n".encode(), b"text/plain; charset=utf-8", status)

    async def json(self, value: Any) -> None:
        await self.reply(json.dumps(value).encode() + b"\n", b"application/json")
