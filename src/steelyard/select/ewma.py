"""How long a member takes, from its latest response times: at once up, slowly down.

Finagle's PeakEwma: an average that jumps to every peak, and forgets it with a time constant, so
that a member that has become slow is left alone at once and is asked again after a while.
"""

from __future__ import annotations

from math import exp


class PeakAverage:
    """A moving average that is never below the latest peak but for what time takes off it.

    >>> average = PeakAverage(decay=10.0)
    >>> average.observe(0.5, now=0.0)
    >>> average.observe(0.1, now=10.0)
    >>> round(average.value(now=10.0), 3)
    0.247
    >>> round(average.value(now=30.0), 3)  # nothing heard for two time constants
    0.033
    """

    __slots__ = ("_at", "_decay", "_value")

    def __init__(self, decay: float) -> None:
        self._decay = decay  # seconds after which 1/e of a value is left
        self._value = 0.0
        self._at = 0.0

    def observe(self, seconds: float, now: float) -> None:
        """A response time."""
        if seconds >= self._value:
            self._value = seconds
        else:
            kept = exp((self._at - now) / self._decay)
            self._value = self._value * kept + seconds * (1 - kept)
        self._at = now

    def value(self, now: float) -> float:
        """The average, as much of it as is left."""
        return self._value * exp((self._at - now) / self._decay)
