"""Drives a fleet through a scenario: passes it events, keeps a clock, collects its commands."""

from __future__ import annotations

from itertools import count

from steelyard.core import commands as cmd
from steelyard.core import events as ev
from steelyard.core.fleet import Fleet
from steelyard.core.meter import Rating
from steelyard.core.report import Report, Traffic
from steelyard.core.rules import Rules
from steelyard.core.scaling.base import Policy
from steelyard.core.scaling.step import Step, StepPolicy
from steelyard.core.usage import Machine, Sample

STEP = Step(low=20, high=60, critical=80, cooldown=5, dwell_up=2, dwell_down=10)
MACHINE = Machine(cpus=2, memory=1000)


def rules(**changes) -> Rules:
    known = {"application": "app", "source": "serve", "min": 2, "max": 4, "dwell_down": 10.0}
    return Rules(**(known | {"rating": Rating(MACHINE)} | changes))


class Driver:
    """A fleet, its clock, and every command it gave."""

    def __init__(self, policy: Policy | None = None, *, limits=None, **changes) -> None:
        serial = count(1)
        self.fleet = Fleet(
            rules(**changes),
            policy or StepPolicy(STEP),
            names=lambda: f"w{next(serial)}",
            epoch="e",
            limits=limits,
        )
        self.now = 100.0
        self.cpu: dict[str, float] = {}
        self.log: list[cmd.Command] = []

    def tell(self, event: ev.Event) -> list[cmd.Command]:
        out = self.fleet.handle(event, self.now)
        self.log += out
        return out

    def open(self, running=(), records=()) -> list[cmd.Command]:
        return self.tell(ev.Reconciled(self.now, tuple(running), tuple(records)))

    def serve(self, *names: str) -> None:
        """The runtime starts these workers, and their first probe succeeds."""
        for name in names:
            self.tell(ev.Started(name, "127.0.0.1", 21000 + int(name[1:])))
            self.tell(ev.Probed(name, ok=True, seconds=0.001))

    def booted(self) -> Driver:
        """Boot all default workers and return the driver."""
        self.serve(*[c.worker for c in self.open() if isinstance(c, cmd.Start)])
        return self

    def tick(self, load: float = 0.0, seconds: float = 2.0, **each: float) -> list[cmd.Command]:
        """Let time pass, then let the fleet decide.

        Every worker uses `load` percent of a core, or its own load from `each`.
        """
        self.now += seconds
        samples = {}
        for worker in self.fleet.roster:
            used = each.get(worker.name, load) / 100 * seconds
            self.cpu[worker.name] = self.cpu.get(worker.name, 0.0) + used
            samples[worker.name] = Sample(self.now, self.cpu[worker.name], 10)
        return self.tell(ev.Sampled(samples)) + self.tell(ev.Tick())

    def ticks(self, times: int, load: float = 0.0) -> list[cmd.Command]:
        return [command for _ in range(times) for command in self.tick(load)]

    def report(
        self,
        balancer: str = "b1",
        version: int | None = None,
        *,
        done: int = 0,
        waiting: int = 0,
        wait: float = 0.0,
        tunnels: int = 0,
        **inflight: int,
    ):
        """A balancer reports on the workers in `inflight`.

        Each of them has answered `done` requests and has `tunnels` tunnels open.
        """
        queue = self.fleet.publication.queue
        newest = queue.version if queue else -1
        traffic = {
            name: Traffic(
                inflight=n, tunnels=tunnels, requests=done, failures=0, bytes=0, seconds=0
            )
            for name, n in inflight.items()
        }
        seen = newest if version is None else version
        report = Report(
            balancer=balancer,
            epoch="e",
            version=seen,
            workers=traffic,
            waiting=waiting,
            wait_seconds=wait,
        )
        return self.tell(ev.Reported(report))

    def state(self, name: str) -> str:
        worker = self.fleet.roster.get(name)
        return "gone" if worker is None else str(worker.state)

    def ring(self) -> set[str]:
        """The workers to which the newest queue sends requests."""
        queue = self.fleet.publication.queue
        return {e.name for e in queue.workers if e.weight} if queue else set()


def starts(out: list[cmd.Command]) -> list[str]:
    return [c.worker for c in out if isinstance(c, cmd.Start)]


def stops(out: list[cmd.Command]) -> list[str]:
    return [c.worker for c in out if isinstance(c, cmd.Stop)]


def decisions(out: list[cmd.Command]) -> list[tuple[str, str]]:
    return [(c.action, c.reason) for c in out if isinstance(c, cmd.Decide)]
