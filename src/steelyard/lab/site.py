"""The site: what workers and requests are like in a run of `lab scaling`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """Times in seconds."""

    min: int = 2
    max: int = 200
    boot: float = 15.0
    service: float = 0.2  # work of a request, on average
    spread: float = 0.5  # its standard deviation over its mean
    slo: float = 1.0  # an answer that takes longer is late
    patience: float = 5.0  # in line, then a request is refused
    tick: float = 2.0
