"""The account: what a balancer process has done since it began. It is sent to the supervisor again
and again.

Reports (core/report.py) are differences, and go to the agent. Accounts are totals: the next account
makes up for a lost one, and the last account of a killed process still counts.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from steelyard.core.bounds import LARGEST_FLEET, Count, Name, Seconds, Version
from steelyard.core.report import BOUNDS

CLASSES = 10  # classes of HTTP statuses, by their first digit

Status = Annotated[int, Field(ge=100, le=999)]


class Done(BaseModel):
    """What one worker has done for one balancer process. Each number only grows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    statuses: tuple[Count, ...] = Field(
        default=(0,) * CLASSES, min_length=CLASSES, max_length=CLASSES
    )
    failures: Count = 0  # requests with no answer, a truncated one, or one we could not parse
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
    """One worker at one address, as one balancer process knows it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    place: str = Field(max_length=1000)
    inflight: Count = 0
    ejected: bool = False  # the process sends it no requests now, because it failed too often
    done: Done = Done()


class Own(BaseModel):
    """What a balancer process has done itself, without a worker. Each number only grows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answers: dict[Status, Count] = {}  # answers of the balancer itself, by status
    refused: Count = 0  # requests refused because no worker could take them
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
    """The state of one balancer process now, and its totals."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Version = 0  # of the queue in use
    connections: Count = 0  # open connections of clients
    waiting: Count = 0  # requests that wait for a worker
    own: Own = Own()
    workers: tuple[Work, ...] = Field(default=(), max_length=LARGEST_FLEET)


def _each(some: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(one + other for one, other in zip(some, others, strict=True))
