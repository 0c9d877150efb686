"""The report: what a balancer tells the agent, on the socket on which it gets the queue.

Counts are those since the last report; `inflight` is the number of exchanges open now. Every number
has bounds (core/bounds.py), so that the agent can calculate with any report it has accepted.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from steelyard.core.bounds import LARGEST_FLEET, Count, Name, Seconds, Version
from steelyard.core.queue import parse_message

# The upper bounds of the histogram's buckets in seconds, doubling from half a millisecond. A last
# bucket without a bound takes slower answers.
BOUNDS = tuple(0.0005 * 2**power for power in range(18))


class Traffic(BaseModel):
    """What one worker did for one balancer since the last report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inflight: Count
    tunnels: Count = 0  # exchanges in flight that have become tunnels
    requests: Count
    failures: Count  # requests with no answer, a truncated one, or one we could not parse
    bytes: Count  # in both directions
    seconds: Seconds  # sum of times to the first byte of the answer
    histogram: tuple[Count, ...] = Field(
        default=(0,) * (len(BOUNDS) + 1), min_length=len(BOUNDS) + 1, max_length=len(BOUNDS) + 1
    )


class Report(BaseModel):
    """The message of one balancer process to the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    balancer: Name
    epoch: str = Field(max_length=100)  # of the queue in use; empty before the first queue
    version: Version
    workers: dict[Name, Traffic] = Field(max_length=LARGEST_FLEET)
    waiting: Count = 0  # requests that wait for a worker
    wait_seconds: Seconds = 0.0  # the longest of their waits so far
    refused: Count = 0  # requests answered 503 because no worker could take them
    unshaken: Count = 0  # clients that failed the TLS handshake
    farewell: bool = False  # the last report: the balancer has ended its exchanges and leaves


def parse_report(text: str | bytes) -> Report:
    """Parse a report message; a malformed one raises an error that names the first wrong field."""
    return parse_message(Report, "report", text)
