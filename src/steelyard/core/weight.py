"""The weight of a worker: its share of new requests. It follows the score, damped.

If the weight were the score, the load of two equal workers at U = 50 would swing between them for
ever: at each tick the one that was idle gets everything, because the gain of the loop,
U / (100 − U), is 1 at that load, and grows with it. Here the goal is `25 + 0.75 · score`, and each
tick moves the weight by a third of the way to it. Then a swing dies out at any load: from tick to
tick it shrinks by the factor 2/3 − 1/3 · 0.75·U / (100 − 0.75·U), which lies between 2/3 (idle) and
−1/3 (U = 100).
"""

from __future__ import annotations

FULL = 100.0  # the weight of an idle worker, and of a new one
GRAIN = 25.0  # published weights are multiples of this
LEAST = 25.0  # the weight of a saturated worker
STEP = 1 / 3  # the share of the way to its goal that a weight moves at each tick


def published(weight: float) -> float:
    """The weight that balancers are told, rounded to a multiple of `GRAIN`.

    Finer differences are noise: with them, idle workers would be ranked instead of taking turns,
    and balancers would have to rebuild their rings with every queue.
    """
    return GRAIN * round(weight / GRAIN)


def follow_score(weight: float, score: float) -> float:
    """The weight one tick later."""
    goal = LEAST + (1 - LEAST / FULL) * score
    return weight + STEP * (goal - weight)
