"""The executor: starts and stops workers in the background, in order for each worker.

A stop that is decided while its worker is still being started waits for the start to end;
otherwise it would find nothing to stop, and the worker would run on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

from steelyard.core.events import Event, Exited, Started, StartFailed, StopFailed
from steelyard.errors import SteelyardError
from steelyard.runtime.base import Runtime

log = logging.getLogger(__name__)


class Executor:
    """Executes the commands that need the runtime."""

    def __init__(
        self,
        runtime: Runtime,
        tell: Callable[[Event], None],
        grace: float,
        may_act: Callable[[], bool],
        check: Callable[[], Awaitable[None]],
    ) -> None:
        """`check` finds out whether the runtime is away, and tells the fleet.

        It is called before a failure is reported: if the runtime is away, the failure is not the
        worker's. `may_act` is called right before an action, because an action may have waited for
        another one.
        """
        self._runtime = runtime
        self._may_act = may_act
        self._tell = tell
        self._check = check
        self._grace = grace
        self._last: dict[str, asyncio.Task[None]] = {}  # what the next one for a worker waits for
        self._tasks: set[asyncio.Task[None]] = set()  # all that run: a kill overtakes a stop
        self._starting: dict[str, asyncio.Task[None]] = {}

    def start(self, name: str) -> None:
        task = self._then(name, self._start(name))
        self._starting[name] = task
        task.add_done_callback(lambda _: self._starting.pop(name, None))

    def stop(self, name: str) -> None:
        self._then(name, self._stop(name, self._grace))

    def kill(self, name: str) -> None:
        """Kill a worker: after its start, if that is under way, but without waiting for a stop."""
        self._begin(name, self._starting.get(name), self._stop(name, 0))

    async def close(self) -> None:
        """Wait for all starts and stops that are under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def cancel(self) -> None:
        """Cancel all starts and stops: another agent takes care of these workers."""
        for task in [*self._tasks]:
            task.cancel()
        await self.close()

    def _then(self, name: str, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        return self._begin(name, self._last.get(name), work)

    def _begin(
        self, name: str, before: asyncio.Task[None] | None, work: Coroutine[None, None, None]
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(self._after(before, work))
        self._last[name] = task
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._done(name, done))
        return task

    def _done(self, name: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._last.get(name) is task:
            del self._last[name]

    @staticmethod
    async def _after(before: asyncio.Task[None] | None, work: Coroutine[None, None, None]) -> None:
        if before is not None:
            await asyncio.wait([before])
        await work

    async def _start(self, name: str) -> None:
        if not self._may_act():
            return
        try:
            running = await self._runtime.start(name)
        except SteelyardError as error:
            await self._check()
            self._tell(StartFailed(name, str(error)))
            return
        place = (running.host, running.port, running.allowance, running.node, running.handle)
        self._tell(Started(name, *place))

    async def _stop(self, name: str, grace: float) -> None:
        if not self._may_act():
            return
        try:
            await self._runtime.stop(name, grace)
        except SteelyardError as error:
            log.error("%s could not be stopped: %s", name, error.message)
            await self._check()
            self._tell(StopFailed(name, error.message))
            return
        self._tell(Exited(name, "stopped"))
