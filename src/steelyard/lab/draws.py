"""Random numbers, drawn in blocks by numpy: one at a time they would cost more than the events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096

Block = Callable[[int], NDArray[np.float64]]


def stream(block: Block) -> Callable[[], float]:
    """Return a function that gives the next number of an endless sequence, drawn in blocks."""
    return _numbers(block).__next__


def _numbers(block: Block) -> Iterator[float]:
    while True:
        yield from block(BLOCK).tolist()


def exponential(rng: np.random.Generator, mean: float) -> Callable[[], float]:
    """Exponential numbers: the gaps of a Poisson process, or the service times of M/M/c."""
    return stream(lambda size: rng.exponential(mean, size))


def generators(seed: int, count: int) -> list[np.random.Generator]:
    """Independent generators of one seed: the draws of one do not affect the others."""
    return [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(count)]
