"""The loop: passes events to the fleet, and its commands to the parts that execute them.

Everything runs in one asyncio thread, and `tell` never waits, so events cannot overtake each
other and no lock is needed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from steelyard.agent.audience import Audience
from steelyard.agent.executor import Executor
from steelyard.agent.hub import Hub
from steelyard.agent.metrics import Metrics
from steelyard.agent.presence import Presence
from steelyard.agent.prober import Prober, Target, settle_time
from steelyard.agent.writer import Writer
from steelyard.config.settings import Settings
from steelyard.core import commands as cmd
from steelyard.core import events as ev
from steelyard.core.fleet import Fleet
from steelyard.core.lifecycle import State
from steelyard.core.status import FleetStatus, status
from steelyard.errors import SteelyardError
from steelyard.runtime.base import Runtime

log = logging.getLogger(__name__)

RECONCILE_EVERY = 30.0  # seconds; the runtime reports exits at once, this finds missed ones


class Agent:
    """The agent of one application."""

    def __init__(
        self,
        settings: Settings,
        fleet: Fleet,
        runtime: Runtime,
        writer: Writer,
        clock: Callable[[], float] = time.monotonic,
        may_act: Callable[[], bool] = lambda: True,
        notes: Callable[[], list[str]] = list,
    ) -> None:
        self.settings = settings
        self.fleet = fleet
        self.runtime = runtime
        self.writer = writer
        self.clock = clock
        self._may_act = may_act  # whether this agent leads, if there are several
        self._notes = notes  # notes of the process for the status: whether its supervisor is gone
        self.hub = Hub(self.tell)
        self.audience = Audience()
        self.metrics = Metrics()
        self.presence = Presence(runtime, self.tell, self._look)
        grace = settings.runtime.grace
        self.executor = Executor(runtime, self.tell, grace, may_act, self.presence.check)
        settle = settle_time(settings.runtime)
        self.prober = Prober(settings.probe, self.tell, self._alive, self._booting, settle)
        self.reconciled = asyncio.Event()
        self.closed = asyncio.Event()

    def tell(self, event: ev.Event) -> None:
        """Pass the fleet one event, and begin to execute the commands that follow.

        An agent that may no longer act ignores the event, because its term ends.
        """
        if not self._may_act():
            return
        self._handle(event)
        for command in self.fleet.decided:
            self._execute(command)
        self._watch_started()
        if self.audience:
            self._tell_audience(event)
        self._note_end()

    def _handle(self, event: ev.Event) -> None:
        """Pass the fleet one event. If that raises an exception, log it: the agent must go on."""
        try:
            self.fleet.handle(event, self.clock())
        except Exception:
            self.metrics.refused_events += 1
            log.exception("an event of type %s was refused", type(event).__name__)
            return
        if isinstance(event, ev.Reported):
            self.metrics.add(event.report, self.fleet.roster.by_name)

    async def run(self) -> None:
        """Measure and decide, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.writer.run())
            group.create_task(self._watch_exits())
            await self._reconcile_first()
            self.reconciled.set()
            self._note_end()
            group.create_task(self._tick())
            group.create_task(self.presence.watch())
            group.create_task(self._reconcile())

    def status(self) -> FleetStatus:
        """The status of the fleet, with the notes of process and runtime, and the store's error."""
        store = [f"store: {self.writer.down}"] if self.writer.down else []
        told = status(self.fleet, self.clock())
        notes = [*self._notes(), *self.runtime.notes, *store, *told.notes]
        return told.model_copy(update={"notes": notes})

    def kill(self) -> None:
        """Kill all workers at once, and stop waiting for a runtime that is away."""
        if self.fleet.closing:
            self.tell(ev.CloseAsked(at_once=True))
        for worker in self.fleet.roster:
            self.executor.kill(worker.name)

    def _execute(self, command: cmd.Command) -> None:
        match command:
            case cmd.Start(name):
                self.executor.start(name)
            case cmd.Stop(name):
                self.executor.stop(name)
            case cmd.Publish(queue):
                self.hub.publish(queue)
            case cmd.Save(record):
                self.writer.save(record)
            case cmd.Forget(name):
                self.writer.forget(name)
                self.metrics.forget(name)
            case cmd.SaveLimits(limits):
                self.writer.save_limits(limits)
            case cmd.Decide(_, action, workers, reason):
                log.info("%s %s: %s", action, ", ".join(workers) or "fleet", reason)

    def _watch_started(self) -> None:
        for worker in self.fleet.roster:
            if worker.started and worker.live:
                # The handle of a process is its pid; that of a container is no number.
                pid = int(worker.handle) if worker.handle.isdecimal() else None
                self.prober.watch(Target(worker.name, worker.host, worker.port, pid))

    def _tell_audience(self, event: ev.Event) -> None:
        """Pass the names of all workers to the readers of logs.

        A worker that failed to start is no longer in the fleet, but it may have printed the reason.
        """
        names = {worker.name for worker in self.fleet.roster if worker.started}
        failed = {event.worker} if isinstance(event, ev.StartFailed) else set()
        self.audience.notice(names | failed, found=isinstance(event, ev.Reconciled))

    def _note_end(self) -> None:
        """Set `closed` if the fleet is, but not before the first reconciliation.

        Until then the fleet is empty because its workers have not been looked for yet.
        """
        if self.reconciled.is_set() and self.fleet.closed:
            self.closed.set()

    def _alive(self, name: str) -> bool:
        worker = self.fleet.roster.get(name)
        return worker is not None and worker.live

    def _booting(self, name: str) -> bool:
        worker = self.fleet.roster.get(name)
        return worker is not None and worker.state is State.INIT

    async def _watch_exits(self) -> None:
        async for end in self.runtime.exits():
            self.tell(ev.Exited(end.name, end.reason))

    async def _tick(self) -> None:
        due = self.clock()
        while True:
            due = max(due + self.settings.agent.tick, self.clock())
            await asyncio.sleep(due - self.clock())
            await self._measure()
            self.tell(ev.Tick())

    async def _measure(self) -> None:
        if self.presence.away:
            return
        try:
            self.tell(ev.Sampled(await self.runtime.sample()))
        except SteelyardError as error:
            log.warning("the workers could not be measured: %s", error.message)

    async def _reconcile_first(self) -> None:
        """Tell the fleet which workers run, and which of them the store remembers."""
        try:
            records = tuple(await self.writer.store.workers())
        except SteelyardError as error:
            log.warning("store: %s; only the runtime is asked for workers", error.message)
            records = ()
        self.tell(ev.Reconciled(self.clock(), await self._found(), records))

    async def _reconcile(self) -> None:
        while True:
            await asyncio.sleep(RECONCILE_EVERY)
            try:
                self.tell(await self._look())
            except SteelyardError as error:
                log.warning("the running workers could not be listed: %s", error.message)
            self.writer.write_again()  # others may have emptied the store unnoticed

    async def _look(self) -> ev.Reconciled:
        at = self.clock()
        return ev.Reconciled(at, await self._found())

    async def _found(self) -> tuple[ev.Found, ...]:
        running = await self.runtime.running()
        return tuple(
            ev.Found(r.name, r.host, r.port, r.allowance, r.node, r.handle) for r in running
        )
