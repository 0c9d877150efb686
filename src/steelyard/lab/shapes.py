"""Shapes of traffic, an hour each, as shares of a peak."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, exp, pi

from steelyard.lab.trace import Trace

SECONDS, STEP = 3600, 10  # seconds of a shape, and of its intervals


def _step(time: float) -> float:
    return 0.75 if 1200 <= time < 2400 else 0.25


def _ramp(time: float) -> float:
    up, down = (time - 600) / 900, (3000 - time) / 900
    return 0.2 + 0.8 * max(0.0, min(up, down, 1.0))


def _spike(time: float) -> float:
    return 1.0 if time % 1200 >= 1080 else 0.2  # two minutes, three times an hour


def _diurnal(time: float) -> float:
    """A day, compressed into an hour."""
    return 0.6 - 0.4 * cos(2 * pi * time / SECONDS)


def _flash_crowd(time: float) -> float:
    """Traffic grows tenfold within half a minute, and then fades."""
    since = time - 900
    if since < 0:
        return 0.1
    return 0.1 + 0.9 * min(1.0, since / 30) * exp(-max(0.0, since - 120) / 600)


SHAPES: dict[str, Callable[[float], float]] = {
    "step": _step,
    "ramp": _ramp,
    "spike": _spike,
    "diurnal": _diurnal,
    "flash crowd": _flash_crowd,
}


def shape(name: str, peak: float) -> Trace:
    """A shape with that many requests per second at its peak."""
    edges = range(0, SECONDS + STEP, STEP)
    counts = [SHAPES[name](time + STEP / 2) * peak * STEP for time in edges[:-1]]
    return Trace(name, list(edges), counts)
