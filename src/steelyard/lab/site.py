"""The site: the properties of workers and requests in a run of `lab scaling`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """All times are in seconds."""

    min: int = 2
    max: int = 200
    boot: float = 15.0
    service: float = 0.2  # mean work of a request
    spread: float = 0.5  # standard deviation of the work over its mean
    slo: float = 1.0  # an answer that takes longer is late
    patience: float = 5.0  # a request that has waited for so long is refused
    tick: float = 2.0
