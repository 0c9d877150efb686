"""The weight of a worker: its share of new requests. It follows the score, damped.

With weight = score two equal workers at U = 50 swing for ever: each tick the one that was idle
gets everything, because the gain of the loop, U / (100 − U), is 1 there and grows. With
`weight = 25 + 0.75 · score`, moved by a third of the way each tick, a swing dies out at any load:
from tick to tick it shrinks by the factor 2/3 − 1/3 · 0.75·U / (100 − 0.75·U), which lies between
2/3 (idle) and −1/3 (U = 100).
"""

from __future__ import annotations

FULL = 100.0
GRAIN = 25.0
LEAST = 25.0  # of a saturated worker
STEP = 1 / 3


def published(weight: float) -> float:
    """The weight that balancers are told: in quarters.

    Finer differences are noise, and would have idle workers ranked instead of taking turns, and
    the balancers rebuild their rings with every queue.
    """
    return GRAIN * round(weight / GRAIN)


def follow_score(weight: float, score: float) -> float:
    """The weight one tick later."""
    goal = LEAST + (1 - LEAST / FULL) * score
    return weight + STEP * (goal - weight)
