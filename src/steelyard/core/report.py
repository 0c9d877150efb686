"""The report: what a balancer tells the agent on the same socket the queue comes from.

Counts are since the last report that was sent; `inflight` is the number of exchanges open now.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from steelyard.core.queue import parse_message

# Upper bounds in seconds, doubling from half a millisecond; a last bucket takes what is slower.
BOUNDS = tuple(0.0005 * 2**power for power in range(18))


class Traffic(BaseModel):
    """What one worker had to do for one balancer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inflight: int = Field(ge=0)
    requests: int = Field(ge=0)
    failures: int = Field(ge=0)  # no answer, a cut answer, or one we could not read
    bytes: int = Field(ge=0)  # both ways
    seconds: float = Field(ge=0)  # sum of times to the first byte of the answer
    histogram: tuple[int, ...] = Field(
        default=(0,) * (len(BOUNDS) + 1), min_length=len(BOUNDS) + 1, max_length=len(BOUNDS) + 1
    )


class Report(BaseModel):
    """One balancer process to the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    balancer: str = Field(min_length=1)
    epoch: str  # of the queue it serves from, empty before the first
    version: int
    workers: dict[str, Traffic]
    waiting: int = Field(default=0, ge=0)  # requests in the waiting line
    wait_seconds: float = Field(default=0.0, ge=0)  # longest wait now
    refused: int = Field(default=0, ge=0)  # requests answered 503 for want of a worker
    unshaken: int = Field(default=0, ge=0)  # clients that failed the TLS handshake
    farewell: bool = False  # the last report: the balancer has ended its exchanges and leaves


def parse_report(text: str | bytes) -> Report:
    """Read a report message; a malformed one is refused with the place of the first fault."""
    return parse_message(Report, "report", text)
