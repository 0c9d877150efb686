"""A client for asyncio. Nothing here blocks the event loop, except that `submit` packs its
arguments in it, which is noticeable from some megabytes on.

async with mesh.AsyncClient(join=["tcp/127.0.0.1:7447"]) as client:
    async for answer in client.map(render, tiles):
        print(answer.key, answer.value)
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from steelyard.mesh.answer import Answer
from steelyard.mesh.client import Client
from steelyard.mesh.job import Job

T = TypeVar("T")

TURN = 16  # answers that are taken in a row before other tasks get their turn


class AsyncClient:
    """`Client` for asyncio; it takes the arguments of `Client`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._make = lambda: Client(*args, **kwargs)
        self._client: Client | None = None

    async def __aenter__(self) -> Self:
        self._client = await _in_thread(self._make, lambda client: client.close())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.client.close)

    @property
    def client(self) -> Client:
        """The client underneath."""
        if self._client is None:
            raise RuntimeError("use `async with` first")
        return self._client

    async def submit(self, function: Callable[..., Any] | str, /, *args: Any, **kwargs: Any) -> Any:
        """One unit's value; cancelling the task stops the unit."""
        return await asyncio.wrap_future(self.client.submit(function, *args, **kwargs))

    async def map(
        self, function: Callable[..., Any] | str, *arguments: Iterable[Any], **options: Any
    ) -> AsyncIterator[Answer]:
        """Answers as they come; leaving the loop early cancels the rest."""
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        make = functools.partial(self.client.map, function, *arguments, **options)
        job: Job = await _in_thread(make, lambda job: job.cancel())

        def wake() -> None:
            with suppress(RuntimeError):  # the event loop was closed, so nobody waits any more
                loop.call_soon_threadsafe(arrived.set)

        job.tell(wake)
        taken = 0
        try:
            while True:
                arrived.clear()
                if (answer := job.next_now()) is not None:
                    yield answer
                    taken += 1
                    if taken % TURN == 0:
                        await asyncio.sleep(0)
                elif job.over:
                    return
                else:
                    await arrived.wait()
        finally:
            job.cancel()


async def _in_thread(make: Callable[[], T], undo: Callable[[T], object]) -> T:
    """Run `make` in a thread and return its result. If the caller is cancelled, `undo` the result
    as soon as it is there.
    """
    made: Future[T] = Future()
    made.set_running_or_notify_cancel()

    def run() -> None:
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)

    threading.Thread(target=run, name="steelyard-make", daemon=True).start()
    try:
        return await asyncio.wrap_future(made)
    except asyncio.CancelledError:
        made.add_done_callback(lambda done: done.exception() or undo(done.result()))
        raise
