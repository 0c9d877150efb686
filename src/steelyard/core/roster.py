"""The roster: all workers of a fleet, and queries over them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.core.lifecycle import State
from steelyard.core.worker import Worker


@dataclass(slots=True)
class Roster:
    """Workers by name.

    Names of ended workers are remembered for a while, so that a late message does not bring one
    back.
    """

    by_name: dict[str, Worker] = field(default_factory=dict)
    ended: deque[str] = field(default_factory=lambda: deque(maxlen=512))
    next_sequence: int = 0

    def __iter__(self) -> Iterator[Worker]:
        return iter(list(self.by_name.values()))

    def get(self, name: str) -> Worker | None:
        return self.by_name.get(name)

    def add(self, worker: Worker) -> None:
        self.by_name[worker.name] = worker
        self.next_sequence = max(self.next_sequence, worker.sequence + 1)

    def remove(self, worker: Worker) -> None:
        del self.by_name[worker.name]
        self.ended.append(worker.name)

    def knows(self, name: str) -> bool:
        return name in self.by_name or name in self.ended

    def live(self) -> list[Worker]:
        """The workers that boot or serve, in the order of their start."""
        return sorted((w for w in self if w.live), key=lambda w: w.sequence)

    def booting(self) -> int:
        return sum(w.state is State.INIT for w in self)

    def in_ring(self) -> list[Worker]:
        return [w for w in self if w.in_ring]

    def alone(self, name: str) -> bool:
        """Whether this worker is the only one in the ring."""
        return [w.name for w in self.in_ring()] == [name]

    def defaults(self, minimum: int) -> set[str]:
        """The names of the first `minimum` live workers, which are never retired."""
        return {w.name for w in self.live()[:minimum]}

    def idle(self, minimum: int, dwell: float, now: float) -> list[Worker]:
        """Workers that `step` may retire: not default, and in LU for at least `dwell` seconds."""
        keep = self.defaults(minimum)
        return [
            w for w in self if w.state is State.LU and w.name not in keep and now - w.since >= dwell
        ]

    def spare(self, minimum: int) -> list[Worker]:
        """Workers that `target` may retire: serving, not default, and never all of the ring."""
        keep = self.defaults(minimum)
        ring = sorted(self.in_ring(), key=lambda w: w.sequence)
        if not any(w.name in keep for w in ring):  # all default workers boot or hang
            keep |= {w.name for w in ring[:1]}
        return [w for w in self if w.serving and w.name not in keep]
