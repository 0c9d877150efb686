"""A balancer whose weights follow the workers' utilization, renewed with every queue."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from steelyard.core.weight import FULL, follow_score, published
from steelyard.lab.queueing import Setting, Stage
from steelyard.select import POLICIES

Weigh = Callable[[Sequence[float]], Sequence[float]]  # from scores to weights
# Called with the time, and the utilization of each worker.
Watch = Callable[[float, Sequence[float]], None]


def as_scored(scores: Sequence[float]) -> Sequence[float]:
    """Weights equal to the scores, as in the paper."""
    return scores


class Damped:
    """The core's damped weights, which follow the scores from tick to tick."""

    def __init__(self) -> None:
        self._weights: list[float] = []

    def __call__(self, scores: Sequence[float]) -> Sequence[float]:
        before = self._weights or [FULL] * len(scores)
        self._weights = [follow_score(weight, score)
                         for weight, score in zip(before, scores, strict=True)]  # fmt: skip
        return [published(weight) for weight in self._weights]


class Scored:
    """Every Δ seconds it measures utilization, and makes scores, weights and a new selector."""

    def __init__(
        self, setting: Setting, age: float, weigh: Weigh, watch: Watch | None = None
    ) -> None:
        self.stage = Stage(setting)
        self._policy = POLICIES[setting.policy]
        self._rng = random.Random(setting.seed)
        self._age = age
        self._weigh = weigh
        self._watch = watch
        self._before = [0.0] * len(self.stage.workers)

    def run(self) -> Stage:
        """Run until the last request has ended."""
        every(self._age, self._renew, self.stage)
        return self.stage.run()

    def _renew(self) -> None:
        stage = self.stage
        used = self._utilization()
        if self._watch is not None:
            self._watch(stage.timeline.now, used)
        weights = self._weigh([FULL - one for one in used])
        stage.traffic.pick = self._policy(stage.workers, weights, self._rng).pick

    def _utilization(self) -> list[float]:
        busy = [worker.busy for worker in self.stage.workers]
        used = [FULL * (now - then) / self._age
                for now, then in zip(busy, self._before, strict=True)]  # fmt: skip
        self._before = busy
        return [min(FULL, one) for one in used]


def every(age: float, do: Callable[[], None], stage: Stage) -> None:
    """Every Δ seconds, as long as requests come."""

    def happen(_: None) -> None:
        do()
        if not stage.traffic.over:
            stage.timeline.at(stage.timeline.now + age, happen, None)

    stage.timeline.at(age, happen, None)
