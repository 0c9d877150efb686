"""Arrivals: the requests of a trace, one by one. Every policy gets the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.lab.draws import generators
from steelyard.lab.trace import Trace

BLOCK = 32  # ticks that are drawn together

Arrivals = list[tuple[float, float]]  # (when, seconds of work)
Floats = NDArray[np.float64]


def arrivals(
    trace: Trace, tick: float, service: float, spread: float, seed: int
) -> Iterator[tuple[float, Arrivals]]:
    """For each tick, its end and the requests that came within it.

    A trace has only counts, so within an interval requests come at random and at a constant rate (a
    Poisson process). The work of a request is log-normal, with mean `service` and standard
    deviation `spread` times the mean.
    """
    times, works = generators(seed, 2)
    for first in range(0, ceil(trace.seconds / tick), BLOCK):
        came = _block(trace, first * tick, (first + BLOCK) * tick, times)
        work = _works(works, service, spread, came.size)
        both = list(zip(came.tolist(), work.tolist(), strict=True))
        ends = (first + 1 + np.arange(BLOCK)) * tick
        places = np.searchsorted(came, ends).tolist()
        before = 0
        for end, place in zip(ends.tolist(), places, strict=True):
            if end - tick < trace.seconds:
                yield end, both[before:place]
            before = place


def _block(trace: Trace, begin: float, end: float, rng: np.random.Generator) -> Floats:
    """The sorted times of the requests within the block."""
    parts = [
        np.sort(rng.uniform(low, high, rng.poisson(rate * (high - low))))
        for low, high, rate in trace.between(begin, end)
    ]
    return np.concatenate(parts)


def _works(rng: np.random.Generator, mean: float, spread: float, size: int) -> Floats:
    variance = log(1 + spread**2)
    return rng.lognormal(log(mean) - variance / 2, sqrt(variance), size)
