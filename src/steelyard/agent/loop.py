"""The loop: tells the fleet what happens, and has done what the fleet commands.

Everything runs in one asyncio thread, and `tell` never waits, so events cannot overtake each
other and no lock is needed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from steelyard.agent.executor import Executor
from steelyard.agent.hub import Hub
from steelyard.agent.metrics import Metrics
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
    ) -> None:
        self.settings = settings
        self.fleet = fleet
        self.runtime = runtime
        self.writer = writer
        self.clock = clock
        self._may_act = may_act  # with several agents, whether it is this one that leads
        self.hub = Hub(self.tell)
        self.metrics = Metrics()
        self.executor = Executor(runtime, self.tell, settings.runtime.grace, may_act)
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
        if isinstance(event, ev.Reported):
            self.metrics.add(event.report, self.fleet.roster.by_name)
        for command in self.fleet.handle(event, self.clock()):
            self._execute(command)
        self._watch_started()
        self._note_end()

    async def run(self) -> None:
        """Measure and decide, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.writer.run())
            group.create_task(self._watch_exits())
            await self._reconcile_first()
            self.reconciled.set()
            self._note_end()
            group.create_task(self._tick())
            group.create_task(self._reconcile())

    def status(self) -> FleetStatus:
        """What people are told: the fleet's view, the runtime's notes and the store's trouble."""
        store = [f"store: {self.writer.down}"] if self.writer.down else []
        notes = [*self.runtime.notes, *store]
        return status(self.fleet, self.clock()).model_copy(update={"notes": notes})

    def kill(self) -> None:
        """End all workers at once."""
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
                self.prober.watch(Target(worker.name, worker.host, worker.port))

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
            at = self.clock()
            try:
                self.tell(ev.Reconciled(at, await self._found()))
            except SteelyardError as error:
                log.warning("not reconciled: %s", error.message)
            self.writer.write_again()  # a store may be emptied by others, and nobody is told

    async def _found(self) -> tuple[ev.Found, ...]:
        running = await self.runtime.running()
        return tuple(ev.Found(r.name, r.host, r.port, r.allowance, r.node) for r in running)
