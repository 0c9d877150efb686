"""Records: what the store keeps of a worker, and of limits that were changed at run time."""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict

from steelyard.core.lifecycle import State


def record_key(application: str, name: str) -> str:
    """The MD5 of `application:name` (seed 000, section 7): short, no special characters."""
    return hashlib.md5(f"{application}:{name}".encode(), usedforsecurity=False).hexdigest()


class WorkerRecord(BaseModel):
    """One worker as it survives a restart of the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    application: str
    name: str
    state: State
    score: float
    host: str
    port: int
    source: str  # the command line or image it was started from
    default: bool
    sequence: int  # order of start: the first `min` workers are the default ones

    @property
    def key(self) -> str:
        return record_key(self.application, self.name)


class LimitsRecord(BaseModel):
    """Limits set at run time, and the configured ones they replaced.

    The configured limits are kept to tell a restart from a changed configuration. After a restart
    the run-time limits stay in force; a changed configuration is newer than they are, and wins.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: int
    max: int
    configured_min: int
    configured_max: int
