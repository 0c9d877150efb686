"""The loop: tells the fleet what happens, and has done what the fleet commands.

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

RECONCILE_EVERY = 30.0  # seconds; exits are seen at once, this catches what was missed


class Agent:
    """One application's agent."""

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
        self._may_act = may_act  # with several agents, whether it is this one that leads
        self._notes = notes  # of the process: whether anybody supervises it
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
        """Give the fleet one event and set going what it commands.

        An agent that may not act any more has nothing to learn, either: its term ends.
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
        """An event that the fleet cannot take in is refused: the agent must outlive it."""
        try:
            self.fleet.handle(event, self.clock())
        except Exception:
            self.metrics.refused_events += 1
            log.exception("an event of the kind %s is refused", type(event).__name__)
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
        """What people are told: the fleet's view, the runtime's notes and the store's trouble."""
        store = [f"store: {self.writer.down}"] if self.writer.down else []
        told = status(self.fleet, self.clock())
        notes = [*self._notes(), *self.runtime.notes, *store, *told.notes]
        return told.model_copy(update={"notes": notes})

    def kill(self) -> None:
        """End all workers at once; a runtime that is away is not waited for any longer."""
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
                pid = int(worker.handle) if worker.handle.isdecimal() else None  # of a process
                self.prober.watch(Target(worker.name, worker.host, worker.port, pid))

    def _tell_audience(self, event: ev.Event) -> None:
        """One that could not be started may have printed why, and is no part of the fleet."""
        names = {worker.name for worker in self.fleet.roster if worker.started}
        failed = {event.worker} if isinstance(event, ev.StartFailed) else set()
        self.audience.notice(names | failed, found=isinstance(event, ev.Reconciled))

    def _note_end(self) -> None:
        """Before the first reconciliation an empty fleet only means that nobody has looked."""
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
            log.warning("not measured: %s", error.message)

    async def _reconcile_first(self) -> None:
        """Both directions: what runs and what the store remembers."""
        try:
            records = tuple(await self.writer.store.workers())
        except SteelyardError as error:
            log.warning("store: %s; workers are found without it", error.message)
            records = ()
        self.tell(ev.Reconciled(self.clock(), await self._found(), records))

    async def _reconcile(self) -> None:
        while True:
            await asyncio.sleep(RECONCILE_EVERY)
            try:
                self.tell(await self._look())
            except SteelyardError as error:
                log.warning("not reconciled: %s", error.message)
            self.writer.write_again()  # a store may be emptied by others, and nobody is told

    async def _look(self) -> ev.Reconciled:
        at = self.clock()
        return ev.Reconciled(at, await self._found())

    async def _found(self) -> tuple[ev.Found, ...]:
        running = await self.runtime.running()
        return tuple(
            ev.Found(r.name, r.host, r.port, r.allowance, r.node, r.handle) for r in running
        )
