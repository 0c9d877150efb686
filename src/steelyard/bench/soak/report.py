"""The result of a soak."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel, computed_field


class Event(BaseModel):
    """Something that was done to the fleet."""

    at: float  # seconds since the load began
    kind: str
    worker: str  # empty: the fleet chose
    settled: float | None  # seconds until the fleet was whole again; None: it was not in time


class Failures(BaseModel):
    """Requests that failed, as wrk counts them."""

    connect: int
    read: int
    write: int
    status: int  # answers with a status above 399
    timeout: int

    @property
    def total(self) -> int:
        return self.connect + self.read + self.write + self.status + self.timeout


class SoakReport(BaseModel):
    """The report of one run."""

    date: str
    machine: str
    command: str
    build: str  # compiled or pure
    workers: int
    connections: int
    wanted: int  # requests per second; 0: as many as possible
    seconds: float
    requests: int
    slowest: float | None  # requests per second, in the slowest five seconds
    p50_us: float
    p99_us: float
    failures: Failures
    events: list[Event]
    foreign: float
    mishaps: list[str]  # our own bugs that the gateway logged

    @computed_field  # type: ignore[prop-decorator] # pydantic asks for both
    @property
    def rate(self) -> float:
        """Requests per second over the whole time."""
        return self.requests / self.seconds if self.seconds else 0.0

    @property
    def happened(self) -> dict[str, int]:
        return dict(Counter(one.kind for one in self.events))

    @property
    def good(self) -> bool:
        """Whether no request failed, and the fleet was whole after every event."""
        whole = all(one.settled is not None for one in self.events)
        return self.requests > 0 and not self.failures.total and not self.mishaps and whole
