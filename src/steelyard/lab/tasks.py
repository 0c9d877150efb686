"""Tasks that are placed on machines and stay: the online load balancing problem (section 8)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.select import POLICIES


class Machine:
    """A machine: what selectors know of it, and the work that it has."""

    __slots__ = ("cost", "inflight", "speed", "work")

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.inflight = 0
        self.cost = 0.0  # no task ends, so its speed is never learned
        self.work = 0.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the tasks of one run went."""

    machines: Sequence[Machine]
    largest: float  # the largest of all tasks

    @property
    def most(self) -> int:
        """The maximum load, in tasks."""
        return max(machine.inflight for machine in self.machines)

    @property
    def makespan(self) -> float:
        """When the last machine is done."""
        return max(machine.work / machine.speed for machine in self.machines)

    @property
    def optimum(self) -> float:
        """A lower bound of the makespan: all machines busy to the end, or the largest task
        alone.
        """
        speeds = [machine.speed for machine in self.machines]
        total = sum(machine.work for machine in self.machines)
        return max(total / sum(speeds), self.largest / max(speeds))

    def share_from(self, load: int) -> float:
        """Share of machines with at least so many tasks."""
        return sum(machine.inflight >= load for machine in self.machines) / len(self.machines)


def place(policy: str, speeds: Sequence[float], sizes: Sequence[float], seed: int) -> Placement:
    """Place each task in turn where the policy says; the weights are the speeds."""
    machines = [Machine(speed) for speed in speeds]
    pick = POLICIES[policy](machines, speeds, random.Random(seed)).pick
    for size in sizes:
        machine = pick()
        machine.inflight += 1
        machine.work += size
    return Placement(machines, max(sizes))
