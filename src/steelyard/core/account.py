"""The account: what a balancer process has done since it began, told to its parent again and again.

Reports (core/report.py) are differences and go to the agent; accounts are totals, so that one that
is lost is made up for by the next, and what a killed process last told still counts.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from steelyard.core.bounds import LARGEST_FLEET, Count, Name, Seconds, Version
from steelyard.core.report import BOUNDS

CLASSES = 10  # of statuses, by their first digit

Status = Annotated[int, Field(ge=100, le=999)]


class Done(BaseModel):
    """What one worker has done for a process. All of it only grows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    statuses: tuple[Count, ...] = Field(
        default=(0,) * CLASSES, min_length=CLASSES, max_length=CLASSES
    )
    failures: Count = 0  # no answer, a cut answer, or one we could not read
    ejections: Count = 0
    sent: Count = 0  # bytes to the worker
    received: Count = 0
    seconds: Seconds = 0.0  # sum of times to the first byte of the answer
    histogram: tuple[Count, ...] = Field(
        default=(0,) * (len(BOUNDS) + 1), min_length=len(BOUNDS) + 1, max_length=len(BOUNDS) + 1
    )

    def __add__(self, other: Done) -> Self:
        return self.model_copy(
            update={
                "statuses": _each(self.statuses, other.statuses),
                "failures": self.failures + other.failures,
                "ejections": self.ejections + other.ejections,
                "sent": self.sent + other.sent,
                "received": self.received + other.received,
                "seconds": self.seconds + other.seconds,
                "histogram": _each(self.histogram, other.histogram),
            }
        )


class Work(BaseModel):
    """One worker at one place, as one process knows it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    place: str = Field(max_length=1000)
    inflight: Count = 0
    ejected: bool = False  # left out now
    done: Done = Done()


class Own(BaseModel):
    """What a process has done for itself. All of it only grows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answers: dict[Status, Count] = {}  # without a worker's, by status
    refused: Count = 0  # for want of a worker
    unshaken: Count = 0  # clients that failed the TLS handshake
    retries: Count = 0
    cpu: Seconds = 0.0  # seconds, user and system

    def __add__(self, other: Own) -> Self:
        statuses = sorted({*self.answers, *other.answers})
        return self.model_copy(
            update={
                "answers": {
                    status: self.answers.get(status, 0) + other.answers.get(status, 0)
                    for status in statuses
                },
                "refused": self.refused + other.refused,
                "unshaken": self.unshaken + other.unshaken,
                "retries": self.retries + other.retries,
                "cpu": self.cpu + other.cpu,
            }
        )


class Account(BaseModel):
    """All of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Version = 0  # of the queue that is served from
    connections: Count = 0  # of clients, open now
    waiting: Count = 0  # requests in line
    own: Own = Own()
    workers: tuple[Work, ...] = Field(default=(), max_length=LARGEST_FLEET)


def _each(some: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(one + other for one, other in zip(some, others, strict=True))
