"""Absence: since when the runtime cannot be asked.

A runtime that is away says nothing about its workers. A probe that succeeds still proves that a
worker lives; a probe that fails proves nothing, as the way to the worker may be the runtime's own,
and no replacement could be started. So the fleet holds what it has: it takes workers that do not
answer out of the ring, and judges, starts, stops and scales nothing until the runtime answers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Absence:
    """Whether the runtime is away, and what it has cost; times are on the agent's clock."""

    since: float | None = None  # None: the runtime answers
    reason: str = ""
    ended: float = float("-inf")  # when the last absence was over
    times: int = 0

    @property
    def lasts(self) -> bool:
        return self.since is not None

    def begin(self, reason: str, now: float) -> bool:
        """Note that the runtime is away; tell whether that is news."""
        self.reason = reason
        if self.since is not None:
            return False
        self.since = now
        self.times += 1
        return True

    def end(self, now: float) -> float:
        """Note that the runtime answers; tell how many seconds it was away."""
        seconds = self.seconds(now)
        self.since, self.reason, self.ended = None, "", now
        return seconds

    def seconds(self, now: float) -> float:
        """How long the runtime has been away; 0 while it answers."""
        return 0.0 if self.since is None else now - self.since

    def describe(self, now: float) -> str:
        """What people are told; empty while the runtime answers."""
        if self.since is None:
            return ""
        return (
            f"the runtime cannot be asked for {self.seconds(now):.0f} s: {self.reason}; "
            "nothing is started, stopped or judged"
        )
