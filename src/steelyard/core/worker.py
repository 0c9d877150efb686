"""One worker, as the fleet knows it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from steelyard.core.events import Found, Started
from steelyard.core.lifecycle import LEAVING, SERVING, Cuts, Signal, State, load_signals, transition
from steelyard.core.meter import Meter
from steelyard.core.usage import Allowance, Sample
from steelyard.core.weight import FULL, follow_score


@dataclass(slots=True)
class Worker:
    """The state of a worker and what it depends on; times are seconds on the agent's clock."""

    name: str
    sequence: int
    born: float  # when it was started, or adopted
    meter: Meter
    state: State = State.INIT
    since: float = 0.0  # when the state was entered
    host: str = ""
    port: int = 0  # 0 until the runtime has started it
    started_at: float = 0.0
    allowance: Allowance = field(default_factory=Allowance)
    node: str = ""  # the machine it runs on; empty if there is only one
    handle: str = ""  # the runtime's id of it: a pid, or the id of a container or a service
    weight: float = FULL  # its share of new requests while it is in the ring
    ready: bool = False
    ready_since: float | None = None
    failing_since: float | None = None
    failed_probes: int = 0
    problem: str = ""  # why the last probe failed
    sundown_version: int | None = None  # version of the first queue that shows it in SUNDOWN
    why_leaving: str = ""
    closing: bool = False  # its drain deadline is near
    stop_failed: bool = False  # the runtime could not stop it, so it has to be stopped again
    story: deque[str] = field(default_factory=lambda: deque(maxlen=12))  # its last transitions

    @property
    def live(self) -> bool:
        """Whether the worker boots or serves, and so counts towards the fleet's target."""
        return self.state not in LEAVING

    @property
    def serving(self) -> bool:
        return self.state in SERVING

    @property
    def in_ring(self) -> bool:
        return self.serving and self.ready

    @property
    def started(self) -> bool:
        return self.port != 0

    def place(self, where: Started | Found, now: float) -> None:
        """Note that the worker runs, and where."""
        self.host, self.port, self.node = where.host, where.port, where.node
        self.handle, self.allowance, self.started_at = where.handle, where.allowance, now

    def move(self, signal: Signal, now: float) -> None:
        """Move to the state that the table gives for this signal."""
        following = transition(self.state, signal, self.story)
        self.story.append(f"{self.state} {signal}")
        self.state, self.since = following, now

    def sampled(self, sample: Sample, cuts: Cuts, now: float) -> None:
        """Take in a sample: update score and weight, and the state that follows utilization."""
        self.meter.take(sample, self.allowance)
        self.weight = follow_score(self.weight, self.meter.score)
        for signal in load_signals(self.state, self.meter.utilization, cuts):
            self.move(signal, now)

    def probed(self, ok: bool, problem: str, patience: int, now: float) -> None:
        """Note a probe: a success makes the worker ready, `patience` failures in a row unready."""
        if ok:
            self.failed_probes, self.failing_since, self.problem = 0, None, ""
            self._become_ready(now)
            return
        self.failed_probes += 1
        self.problem = problem
        self.failing_since = now if self.failing_since is None else self.failing_since
        if self.failed_probes >= patience:
            self.ready, self.ready_since = False, None

    def _become_ready(self, now: float) -> None:
        if not self.ready:
            self.ready, self.ready_since = True, now
            self.meter.restart()
        if self.state is State.INIT:
            self.move(Signal.READY, now)
