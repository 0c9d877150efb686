"""The queue: the ordered snapshot of (worker, score, state) that the agent publishes.

A queue is always complete, so a balancer that missed ten of them needs only the next one. `epoch`
names one life of an agent, and `version` counts the queues within it. A balancer repeats both in
its reports; so the agent knows when a balancer has stopped sending requests to a worker in SUNDOWN.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steelyard.core.bounds import LARGEST_FLEET, Count, Name
from steelyard.core.lifecycle import State
from steelyard.errors import MalformedError

M = TypeVar("M", bound=BaseModel)

# A balancer closes its link with this code when the queue is of another application than the one it
# serves, whose name is the reason. RFC 6455, 7.4.2, leaves 4000 to 4999 to private use.
OTHER_APPLICATION = 4001


class Entry(BaseModel):
    """One worker in the queue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    host: Name
    port: int = Field(ge=1, le=65535)
    score: float = Field(ge=0, le=100, allow_inf_nan=False)
    state: State
    weight: float = Field(ge=0, allow_inf_nan=False)  # its share of new requests; 0: none
    closing: bool = False  # it will be stopped in a moment, even with exchanges open


class Queue(BaseModel):
    """All workers of an application that a balancer may know of, best score first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    application: Name
    epoch: str = Field(max_length=100)
    version: Count
    workers: tuple[Entry, ...] = Field(default=(), max_length=LARGEST_FLEET)


def parse_queue(text: str | bytes) -> Queue:
    """Parse a queue message; a malformed one raises an error that names the first wrong field."""
    return parse_message(Queue, "queue", text)


def parse_message(model: type[M], word: str, text: str | bytes) -> M:
    """Parse one JSON message of the link between agent and balancer."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "message"
        raise MalformedError(
            f"malformed {word}: {place}: {first['msg']}",
            hint="agent and balancer must be of the same version",
        ) from error
