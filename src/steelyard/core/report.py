"""The report: what a balancer tells the agent on the same socket the queue comes from.

Counts are since the last report that was sent; `inflight` is the number of exchanges open now.
Every number has bounds (core/bounds.py), so that the agent can reckon with any report it has read.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from steelyard.core.bounds import LARGEST_FLEET, Count, Name, Seconds, Version
from steelyard.core.queue import parse_message

# Upper bounds in seconds, doubling from half a millisecond; a last bucket takes what is slower.
BOUNDS = tuple(0.0005 * 2**power for power in range(18))


class Traffic(BaseModel):
    """What one worker had to do for one balancer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inflight: Count
    tunnels: Count = 0  # exchanges in flight that have become tunnels
    requests: Count
    failures: Count  # no answer, a cut answer, or one we could not read
    bytes: Count  # both ways
    seconds: Seconds  # sum of times to the first byte of the answer
    histogram: tuple[Count, ...] = Field(
        default=(0,) * (len(BOUNDS) + 1), min_length=len(BOUNDS) + 1, max_length=len(BOUNDS) + 1
    )


class Report(BaseModel):
    """One balancer process to the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    balancer: Name
    epoch: str = Field(max_length=100)  # of the queue it serves from, empty before the first
    version: Version
    workers: dict[Name, Traffic] = Field(max_length=LARGEST_FLEET)
    waiting: Count = 0  # requests in the waiting line
    wait_seconds: Seconds = 0.0  # longest wait now
    refused: Count = 0  # requests answered 503 for want of a worker
    unshaken: Count = 0  # clients that failed the TLS handshake
    farewell: bool = False  # the last report: the balancer has ended its exchanges and leaves


def parse_report(text: str | bytes) -> Report:
    """Read a report message; a malformed one is refused with the place of the first fault."""
    return parse_message(Report, "report", text)
