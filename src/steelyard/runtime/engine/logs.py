"""Reads the output that an engine keeps of a container or service, as a stream, within bounds.

The engine answers with a sequence of frames. Each has a head of 8 bytes: one for the stream, three
unused, four for the length (Docker Engine API, "Attach to a container"). A frame is one line, or a
piece of a line that is longer than 16 KiB. aiodocker would collect all frames in memory, up to the
30 MB that LOG_OPTIONS allow.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.runtime.base import Line, Shown
from steelyard.runtime.engine.connection import missing, told
from steelyard.runtime.log_text import ALL, MOST, Splitter, last_lines, newest
from steelyard.runtime.logfiles import LogFiles

_HEAD = struct.Struct(">BxxxL")
_AGAIN = 1.0  # seconds until the next question to an engine that does not answer
_LAST = 1.0  # seconds for an engine to send the last lines of a worker that ended
_KEEP = 5.0  # seconds for an engine to send the log of a worker that ended
KEPT_LINES = 1000  # lines kept of such a log
_SECOND = 10**9  # nanoseconds


async def read_log(client: Docker, path: str, lines: int) -> str:
    """The last lines of `containers/ID` or `services/ID`, whether it runs or not."""
    kept: deque[bytes] = deque()
    size, whole = 0, True
    async with aclosing(_frames(client, path, tail=lines)) as frames:
        async for frame in frames:
            kept.append(frame)
            size += len(frame)
            while size - len(kept[0]) > MOST:
                size -= len(kept.popleft())
                whole = False
    text = b"".join(kept)
    return last_lines(text[-MOST:], lines, whole=whole and size <= MOST).decode(errors="replace")


async def keep_log(client: Docker, path: str, name: str, logs: LogFiles) -> None:
    """Save the last lines of `containers/ID` or `services/ID`, which the engine is about to delete.

    An engine that fails or hangs meanwhile costs the log, not the worker's end: whoever waits for
    that end goes on.
    """
    with suppress(DockerError, aiohttp.ClientError, OSError):  # a time-out is an OSError
        async with asyncio.timeout(_KEEP):
            text = await read_log(client, path, KEPT_LINES)
        await asyncio.to_thread(logs.keep, name, text)


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a running worker's log on an engine."""

    client: Docker
    path: str  # `containers/ID` or `services/ID`
    over: asyncio.Event  # set when nothing of the worker is left


async def worker_lines(
    source: Source | None,
    kept: LogFiles,
    name: str,
    last: int | None,
    shown: Shown,
    *,
    follow: bool,
) -> AsyncGenerator[Line]:
    """Yield a worker's lines, from the engine or, if the worker has ended, from our file."""
    if source is None:
        for text in newest(filter(shown, await asyncio.to_thread(_kept, kept, name)), last):
            yield Line(text)
        return
    with told(f"no log of worker {name}"):
        found, at = await _last(source, last, shown)
        for line in found:
            yield line
        if follow:
            async with aclosing(_follow(source, at)) as lines:
                async for line in lines:
                    if shown(line.text):
                        yield line


async def _last(source: Source, last: int | None, shown: Shown) -> tuple[list[Line], int]:
    """The last lines, and the time of the very last one in nanoseconds since the epoch."""
    if last is None:
        return [], 0
    recent: deque[tuple[Line, int]] = deque()  # each with its size in bytes
    at = size = 0
    # Ask for more lines than are wanted, as `shown` may drop some of them.
    tail = last * 10 + 100
    async with aclosing(_frames(source.client, source.path, tail=tail, timestamps=True)) as frames:
        async for frame in frames:
            at, text = _parse(frame)
            if not shown(text):
                continue
            recent.append((Line(text, at / _SECOND), len(frame)))
            size += len(frame)
            while len(recent) > last or size > MOST:
                size -= recent.popleft()[1]
    return [line for line, _ in recent], at


async def _follow(source: Source, at: int) -> AsyncGenerator[Line]:
    """Yield lines printed after the time `at`, until nothing of the worker is left.

    After an engine was away, the lines printed meanwhile are yielded, too.
    """
    while True:
        since = {"since": _since(at)} if at else {}
        known = at  # the engine sends the lines of that instant again
        try:
            frames = _frames(source.client, source.path, follow=True, timestamps=True, **since)
            async with aclosing(_until(source.over, frames)) as coming:
                async for frame in coming:
                    at, text = _parse(frame)
                    if at > known:
                        yield Line(text, at / _SECOND)
        except DockerError as error:
            if missing(error):
                return
        except (aiohttp.ClientError, OSError):
            pass
        if source.over.is_set():
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(source.over.wait(), _AGAIN)


def _kept(logs: LogFiles, name: str) -> list[str]:
    splitter = Splitter()
    return [*splitter.feed(logs.begin(name, ALL).text), *splitter.end()]


async def _frames(client: Docker, path: str, **asked: Any) -> AsyncGenerator[bytes]:
    """Yield the contents of each frame of the answer."""
    # aiodocker has no public way to read a log as a stream without following it.
    query = client._query(
        f"{path}/logs",
        params={"stdout": True, "stderr": True, **asked},
        timeout=aiohttp.ClientTimeout(),
    )
    async with query as answer:
        with suppress(asyncio.IncompleteReadError):  # the stream ended
            while True:
                _, length = _HEAD.unpack(await answer.content.readexactly(_HEAD.size))
                yield await answer.content.readexactly(length)


async def _until(over: asyncio.Event, frames: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Yield frames until the stream ends, or one second after the worker's end at the latest.

    A swarm does not always end the stream.
    """
    ended: asyncio.Future[Any] = asyncio.ensure_future(over.wait())
    coming: asyncio.Future[Any] = asyncio.ensure_future(anext(frames))
    try:
        while True:
            await asyncio.wait({coming, ended}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({coming}, timeout=_LAST)
            if not coming.done():
                return
            try:
                yield coming.result()
            except StopAsyncIteration:
                return
            coming = asyncio.ensure_future(anext(frames))
    finally:
        ended.cancel()
        coming.cancel()
        await asyncio.wait({coming, ended})
        await frames.aclose()


def _parse(frame: bytes) -> tuple[int, str]:
    """The time at which a line was printed, in nanoseconds since the epoch, and the line."""
    stamp, _, text = frame.removesuffix(b"\n").partition(b" ")
    second, _, fraction = stamp.decode().removesuffix("Z").partition(".")
    seconds = int(datetime.fromisoformat(second).replace(tzinfo=UTC).timestamp())
    return seconds * _SECOND + int(fraction.ljust(9, "0")), text.decode(errors="replace")


def _since(at: int) -> str:
    return f"{at // _SECOND}.{at % _SECOND:09}"
