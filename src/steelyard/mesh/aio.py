"""A client for asyncio. Nothing here waits in the event loop; arguments of `submit` are packed in
it, which is felt from some megabytes on.

async with mesh.AsyncClient(join=["tcp/127.0.0.1:7447"]) as client:
    async for answer in client.map(render, tiles):
        print(answer.key, answer.value)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import Any, Self

from steelyard.mesh.answer import Answer
from steelyard.mesh.client import Client
from steelyard.mesh.job import Job


class AsyncClient:
    """The same as `Client`, awaited; its arguments are those of `Client`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._make = lambda: Client(*args, **kwargs)
        self._client: Client | None = None

    async def __aenter__(self) -> Self:
        self._client = await asyncio.to_thread(self._make)
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
        """What is underneath."""
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
        job: Job = await asyncio.to_thread(self.client.map, function, *arguments, **options)

        def wake() -> None:
            loop.call_soon_threadsafe(arrived.set)

        job.tell(wake)
        try:
            while True:
                arrived.clear()
                if (answer := job.next_now()) is not None:
                    yield answer
                elif job.over:
                    return
                else:
                    await arrived.wait()
        finally:
            job.cancel()
