"""How the maximum load grows with the number of tasks and machines, compared with theory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.lab.report import Cell
from steelyard.lab.stats import estimate
from steelyard.lab.tasks import Placement, place
from steelyard.lab.theory import TWO_CHOICES_BINS, leading_term, random_maximum

CASES = ((10, 10), (100, 100), (1000, 1000), (10_000, 10_000), (1_000_000, 10_000))
# Greedy looks at all machines for every task: beyond 10⁶ looks a run takes seconds, and beyond 10⁸
# hours.
MANY_LOOKS, MOST_LOOKS = 10**6, 10**8
BALLS = (10_000, 10_000)  # the case of which the share of bins is published

Row = tuple[Cell, ...]


def cases(most: int) -> list[tuple[int, int]]:
    """The cases, as tasks and machines, with at most so many tasks."""
    return [(tasks, machines) for tasks, machines in CASES if tasks <= most]


def runs(tasks: int, machines: int, policy: str, few: int) -> int:
    """How often a case is run."""
    looks = tasks * machines if policy == "least_in_flight" else 0
    if looks > MOST_LOOKS:
        return 0
    return 1 if looks > MANY_LOOKS else few  # all runs of greedy are the same


def growth_row(tasks: int, machines: int, policy: str, seeds: Sequence[int]) -> Row:
    """The row of one case, with the mean of the maximum load over the seeds."""
    theory = _theory(policy, tasks, machines)
    seeds = seeds[: runs(tasks, machines, policy, len(seeds))]
    if not seeds:
        return (tasks, machines, policy, None, None, theory)
    most = estimate([float(one.most) for one in placements(tasks, machines, policy, seeds)]).mean
    return (tasks, machines, policy, most, most - tasks / machines, theory)


def placements(tasks: int, machines: int, policy: str, seeds: Sequence[int]) -> list[Placement]:
    """Place equal tasks on equal machines, once for each seed."""
    return [place(policy, [1.0] * machines, [1.0] * tasks, seed) for seed in seeds]


def share_rows(seeds: Sequence[int]) -> Iterator[Row]:
    """With two choices, the share of machines with at least 1, 2, 3 tasks."""
    bins = placements(*BALLS, "power_of_two", seeds)
    for load, published in enumerate(TWO_CHOICES_BINS, 1):
        told = estimate([one.share_from(load) for one in bins])
        yield (load, published, told.mean, told.margin)


def _theory(policy: str, tasks: int, machines: int) -> str:
    if policy == "weighted_random":
        return f"E = {random_maximum(tasks, machines):.2f}"
    if policy == "least_in_flight":
        return f"{-(-tasks // machines)} (optimal)"
    if policy == "power_of_two" and machines >= 16:
        return f"{tasks // machines} + log log n / log 2 = {_two_choices(tasks, machines):.2f}"
    return ""


def _two_choices(tasks: int, machines: int) -> float:
    """The mean plus the leading term. For n = m the mean belongs to the Θ(1) of the theorem, and
    for more tasks the gap stays the same (Berenbrink, Czumaj, Steger, Vöcking 2000).
    """
    return tasks / machines + leading_term(machines, 2)
