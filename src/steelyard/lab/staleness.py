"""Choices by old information: what a balancer knows of the workers is a snapshot, renewed every Δ
seconds.

This is the model of the bulletin board (Mitzenmacher, "How useful is old information?", 2000).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import fmean

from steelyard.lab.queueing import Setting, Stage
from steelyard.lab.scored import Damped, Scored, as_scored, every
from steelyard.lab.worker import Worker
from steelyard.select import POLICIES

AGES = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds; the paper's queue is renewed every 2 s
LOAD, WORKERS, RATE = 0.8, 10, 10.0  # the rate is the requests per second of one worker
WARM_UP = 0.1


class Seen:
    """A worker as it was at the last snapshot."""

    __slots__ = ("cost", "inflight", "worker")

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.inflight = 0
        self.cost = 0.0


def by_lines(setting: Setting, age: float) -> Stage:
    """Run a policy that goes by the requests in flight, as of the last snapshot."""
    stage = Stage(setting)
    if age:
        seen = [Seen(worker) for worker in stage.workers]
        pick = POLICIES[setting.policy](seen, [1.0] * len(seen), random.Random(setting.seed)).pick

        def renew() -> None:
            for one in seen:
                one.inflight = one.worker.inflight

        stage.traffic.pick = lambda: pick().worker
        every(age, renew, stage)
    return stage.run()


def by_score(setting: Setting, age: float) -> Stage:
    """Run the paper's rule: draw by score, which is 100 − utilization over the last Δ seconds."""
    return Scored(setting, age, as_scored).run()


def by_weight(setting: Setting, age: float) -> Stage:
    """Run our rule: a ring by the core's weight, which follows the score, damped."""
    return Scored(setting, age, Damped()).run()


Aged = Callable[[Setting, float], Stage]
AGED: dict[str, tuple[str, Aged]] = {
    "least_in_flight": ("least_in_flight", by_lines),
    "power_of_two": ("power_of_two", by_lines),
    "ring_of_two": ("ring_of_two", by_lines),
    "random by score (paper)": ("weighted_random", by_score),
    "ring by weight (ours)": ("weighted_ring", by_weight),
    # The information of these two never ages: the first has none, the second counts and times
    # itself.
    "weighted_random": ("weighted_random", lambda setting, _: Stage(setting).run()),
    "own count, shortest_wait": ("shortest_wait", lambda setting, _: Stage(setting).run()),
}


def time_in_system(name: str, age: float, requests: int, seeds: Sequence[int]) -> float | None:
    """The mean over the seeds, in service times; None where there is no span to measure over."""
    policy, simulate = AGED[name]
    if simulate in (by_score, by_weight) and not age:
        return None
    times = []
    for seed in seeds:
        setting = Setting(policy, LOAD, requests, [RATE] * WORKERS, seed=seed)
        times.append(RATE * float(simulate(setting, age).journal.times(WARM_UP).mean()))
    return fmean(times)
