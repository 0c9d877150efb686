"""Restarts: the delay before the next start grows with each worker that fails soon after its start.

Failures at about the same time count as one, as when four workers were started together and all
crash. After a failure workers are started one at a time, until one stays up: this ends the series
of failures.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Restarts:
    """The back-off of starts for one application."""

    backoff: float
    backoff_max: float
    stable: float = 10.0  # seconds of service after which a start counts as successful
    failures: int = 0  # in the present series
    next_try: float = 0.0
    last_failure: float = 0.0
    trouble: str = ""  # what happened last, for people; empty without failures
    culprit: str = ""  # the worker that failed last: its log tells more

    def fail(self, worker: str, what: str, now: float) -> None:
        """Note that a worker failed before it was stable."""
        self.culprit, self.trouble = worker, f"{worker} {what}"
        self.last_failure = now
        if self.failures and now < self.next_try:
            return
        self.failures += 1
        delay = self.backoff * 2 ** min(self.failures - 1, 30)
        self.next_try = now + min(delay, self.backoff_max)

    def prove(self, ready: list[tuple[float, float]], complete: bool, now: float) -> None:
        """End the series when starts are known to work again, or when none is needed.

        `ready` has (born, ready since) of each worker that is ready. A worker that was started
        after the last failure and has been ready for `stable` seconds proves that starts work. If
        all of a complete fleet has been ready for that long, no start is needed.
        """
        lasting = [born for born, since in ready if now - since >= self.stable]
        proven = any(born >= self.last_failure for born in lasting)
        if self.failures and (proven or (complete and len(lasting) == len(ready))):
            self.failures, self.trouble, self.culprit = 0, "", ""

    def allowed(self, missing: int, booting: int, now: float) -> int:
        """How many of the missing workers may be started now."""
        if not self.failures:
            return missing
        if booting or now < self.next_try:
            return 0
        return min(1, missing)
