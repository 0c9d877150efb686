"""Restarts: a worker that fails soon after its start is tried again ever more slowly.

Failures that fall together (four workers started at once, all crash) are one failure. While
there are failures, one worker is started at a time; one that stays up ends the series.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Restarts:
    """The back-off of one application."""

    backoff: float
    backoff_max: float
    stable: float = 10.0  # seconds of service after which a worker counts as well started
    failures: int = 0
    next_try: float = 0.0
    last_failure: float = 0.0
    trouble: str = ""
    culprit: str = ""  # the worker whose log tells more

    def fail(self, worker: str, what: str, now: float) -> None:
        """A worker failed before it was stable."""
        self.culprit, self.trouble = worker, f"{worker} {what}"
        self.last_failure = now
        if self.failures and now < self.next_try:
            return
        self.failures += 1
        delay = self.backoff * 2 ** min(self.failures - 1, 30)
        self.next_try = now + min(delay, self.backoff_max)

    def prove(self, ready: list[tuple[float, float]], complete: bool, now: float) -> None:
        """End the series when starts are known to work again, or when none is needed.

        `ready` has (born, ready since) of the workers that serve. One that was begun after the
        last failure and lasts proves that starts work; a complete fleet that lasts needs none.
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
