"""Absence: the time in which the runtime cannot be reached.

A runtime that is away says nothing about its workers. A probe that succeeds still proves that a
worker lives. A probe that fails proves nothing, because the network path to the worker may belong
to the runtime; and no replacement could be started anyway. So the fleet keeps the workers it has:
it takes workers that do not answer out of the ring, but starts, stops and scales nothing and calls
no worker hung until the runtime answers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Absence:
    """Whether the runtime is away, since when and why; times are on the agent's clock."""

    since: float | None = None  # None: the runtime answers
    reason: str = ""
    ended: float = float("-inf")  # when the last absence was over
    times: int = 0  # how many absences there have been

    @property
    def lasts(self) -> bool:
        return self.since is not None

    def begin(self, reason: str, now: float) -> bool:
        """Note that the runtime is away; return whether it was there before."""
        self.reason = reason
        if self.since is not None:
            return False
        self.since = now
        self.times += 1
        return True

    def end(self, now: float) -> float:
        """Note that the runtime answers; return how many seconds it was away."""
        seconds = self.seconds(now)
        self.since, self.reason, self.ended = None, "", now
        return seconds

    def seconds(self, now: float) -> float:
        """How long the runtime has been away; 0 while it answers."""
        return 0.0 if self.since is None else now - self.since

    def describe(self, now: float) -> str:
        """A sentence for people; empty while the runtime answers."""
        if self.since is None:
            return ""
        return (
            f"the runtime has been unreachable for {self.seconds(now):.0f} s: {self.reason}; "
            "until it answers, no worker is started, stopped or judged"
        )
