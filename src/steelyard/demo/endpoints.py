"""One function for each path."""

from __future__ import annotations

import asyncio
import hashlib
import html
import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from steelyard.demo.exchange import Exchange, Headers
from steelyard.demo.load import MOST_MEGABYTES, Ballast, Burner

_BLOCK = bytes(range(256)) * 256  # its bytes differ, so that a wrong order shows
_MINUTE = 60_000
_MOST_BYTES = 10 * 2**30
_BINARY = b"application/octet-stream"


@dataclass(frozen=True, slots=True)
class Identity:
    """The worker that answers."""

    worker: str
    pid: int
    port: int


@dataclass(slots=True)
class Worker:
    """The state that the endpoints share."""

    identity: Identity
    burner: Burner = field(default_factory=Burner)
    ballast: Ballast = field(default_factory=Ballast)
    hanging: bool = False


Endpoint = Callable[[Worker, Exchange], Awaitable[None]]


async def page(worker: Worker, exchange: Exchange) -> None:
    text = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    for name, value in asdict(worker.identity).items():
        text = text.replace(f"{{{{{name}}}}}", html.escape(str(value)))
    await exchange.reply(text.encode(), b"text/html; charset=utf-8")


async def whoami(worker: Worker, exchange: Exchange) -> None:
    await exchange.json(asdict(worker.identity))


async def health(worker: Worker, exchange: Exchange) -> None:
    await exchange.text("ok")


async def cpu(worker: Worker, exchange: Exchange) -> None:
    ms = exchange.query.number("ms", 50, 0, _MINUTE)
    await worker.burner.burn(ms / 1000)
    await exchange.json({"burnt_ms": ms, **asdict(worker.identity)})


async def memory(worker: Worker, exchange: Exchange) -> None:
    """Hold memory. The answer comes as soon as it is held, so that memory and open requests can be
    tested apart.
    """
    megabytes = exchange.query.number("mb", 50, 1, MOST_MEGABYTES)
    seconds = exchange.query.number("seconds", 10, 0, 600)
    await worker.ballast.hold(megabytes, seconds)
    await exchange.json({"held_mb": megabytes, "seconds": seconds, **asdict(worker.identity)})


async def sleep(worker: Worker, exchange: Exchange) -> None:
    ms = exchange.query.number("ms", 500, 0, _MINUTE)
    await asyncio.sleep(ms / 1000)
    await exchange.json({"slept_ms": ms, **asdict(worker.identity)})


async def echo(worker: Worker, exchange: Exchange) -> None:
    if exchange.query.flag("body"):
        return await _echo_body(exchange)
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in exchange.headers]
    request = {"method": exchange.method, "path": exchange.path, "query": exchange.query_text}
    return await exchange.json({**request, "headers": pairs})


async def _echo_body(exchange: Exchange) -> None:
    """Send each piece of the body back before the next one is read."""
    headers: Headers = [(b"content-type", exchange.header(b"content-type") or _BINARY)]
    if length := exchange.header(b"content-length"):
        headers.append((b"content-length", length))
    await exchange.start(200, headers)
    async for piece in exchange.body():
        if piece:
            await exchange.write(piece, more=True)
    await exchange.write(b"", more=False)


async def upload(worker: Worker, exchange: Exchange) -> None:
    length, digest = 0, hashlib.sha256()
    async for piece in exchange.body():
        length += len(piece)
        digest.update(piece)
    await exchange.json({"length": length, "sha256": digest.hexdigest()})


async def stream(worker: Worker, exchange: Exchange) -> None:
    left = exchange.query.number("size", 2**20, 0, _MOST_BYTES)
    length = [] if exchange.query.flag("chunked") else [(b"content-length", str(left).encode())]
    await exchange.start(200, [(b"content-type", _BINARY), *length])
    while left > len(_BLOCK) and exchange.method != "HEAD":
        await exchange.write(_BLOCK, more=True)
        left -= len(_BLOCK)
    await exchange.write(_BLOCK[:left], more=False)


async def fail(worker: Worker, exchange: Exchange) -> None:
    status = exchange.query.number("status", 500, 400, 599)
    await exchange.text(f"failed on purpose with {status}", status)


async def crash(worker: Worker, exchange: Exchange) -> None:
    # A balancer retries a GET without an answer elsewhere: one click would crash several workers.
    if exchange.method == "POST":
        os._exit(3)
    await exchange.text("POST crashes this worker", 405)


async def hang(worker: Worker, exchange: Exchange) -> None:
    await exchange.text("hanging from now on")
    worker.hanging = True


ENDPOINTS: dict[str, Endpoint] = {
    "/": page,
    "/whoami": whoami,
    "/health": health,
    "/cpu": cpu,
    "/memory": memory,
    "/sleep": sleep,
    "/echo": echo,
    "/upload": upload,
    "/bytes": stream,
    "/fail": fail,
    "/crash": crash,
    "/hang": hang,
}
