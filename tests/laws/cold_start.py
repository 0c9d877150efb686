"""`python -m tests.laws.cold_start`: tails of the first seconds, while no pace is known.

Unequal workers at 70 % load, by the default policy: the 99th percentiles of 100 short runs.
"""

from __future__ import annotations

import sys
from statistics import median

from steelyard.config.settings import Gateway
from tests.laws.simulation import Server, percentile, simulate

RATES = (100.0, 50.0, 25.0, 5.0)
SEEDS, SECONDS = range(100), 12.0


def tail(seed: int, balancers: int) -> float:
    """The 99th percentile in milliseconds."""
    servers = [Server(rate) for rate in RATES]
    policy, load = Gateway().policy, 0.7 * sum(RATES)
    answers = simulate(policy, servers, load, SECONDS, balancers=balancers, seed=seed)
    return percentile(answers, 99) * 1e3


def main() -> None:
    for balancers in (1, 2):
        tails = [tail(seed, balancers) for seed in SEEDS]
        sys.stdout.write(
            f"{balancers} balancers: median {median(tails):.0f} ms, worst {max(tails):.0f}\n"
        )


if __name__ == "__main__":
    main()
