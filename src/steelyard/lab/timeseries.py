"""Utilization over time: section 3.5.3 of the paper, with a new queue every 2 s."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, NamedTuple

from steelyard.lab.figure import numbers
from steelyard.lab.queueing import Setting
from steelyard.lab.report import Cell, Report, Table
from steelyard.lab.scored import Damped, Scored, Weigh, as_scored
from steelyard.lab.stats import estimate
from steelyard.lab.watcher import Watcher

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "timeseries"
PANELS = 3
EVERY = 2.0  # seconds between two queues, as in the paper
WORKERS, RATE = 4, 20.0  # the rate is the requests per second of one worker
HIGH = 50.0  # percent of utilization above which the paper sees fewer choices
BINS = range(0, 100, 10)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00")  # one for each worker


class Mode(NamedTuple):
    """Where the scores come from, how they become weights, and how weights become choices."""

    policy: str
    weigh: Callable[[random.Random], Weigh]
    random_queue: bool = False


class Moment(NamedTuple):
    """One worker in one queue: its utilization there, and its share of the choices until the next
    queue.
    """

    time: float
    worker: int
    used: float  # utilization in percent
    share: float


@dataclass(frozen=True, slots=True)
class Timeseries:
    """Runs of so many seconds, with a load that is a share of what the workers can do."""

    runs: int = 100
    seconds: int = 60
    load: float = 0.5
    seed: int = 1


class RandomQueue:
    """The paper's script: each queue has random scores, independent of what the workers do."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.scores: list[float] = []

    def __call__(self, scores: Sequence[float]) -> Sequence[float]:
        self.scores = [self._rng.uniform(0.0, 100.0) for _ in scores]
        return self.scores


def _equal(scores: Sequence[float]) -> Sequence[float]:
    return [1.0] * len(scores)


MODES = {
    "random queues (paper)": Mode("weighted_random", RandomQueue, random_queue=True),
    "measured, by score (paper)": Mode("weighted_random", lambda _: as_scored),
    "measured, damped ring (ours)": Mode("weighted_ring", lambda _: Damped()),
    "equal weights": Mode("weighted_ring", lambda _: _equal),  # the effect of the traffic alone
}


def run(wish: Timeseries, watcher: Watcher) -> Report:
    """Run all modes with the same traffic."""
    watcher.begin(len(MODES) * wish.runs, "runs")
    told = {name: [_observe(name, wish, number, watcher) for number in range(wish.runs)]
            for name in MODES}  # fmt: skip
    moments = {name: [moment for run in runs for moment in run] for name, runs in told.items()}
    steadiness = [_steadiness_row(name, runs) for name, runs in told.items()]
    return Report(
        name=NAME,
        title="Time series: utilization from queue to queue",
        method=(
            f"Section 3.5.3 of the paper: {WORKERS} equal workers of {RATE:g} requests/s, "
            f"{wish.load:.0%} load, a new queue of workers every {EVERY:g} s, {wish.runs} runs of "
            f"{wish.seconds} s. In the paper's script scores are random; here they are also "
            "measured, so that a choice has consequences. A share of 1 is a worker's fair share."
        ),
        answer=_answer(steadiness),
        reading=_reading(moments, steadiness),
        seed=wish.seed,
        requests=len(MODES) * wish.runs * _requests(wish),
        tables=(
            Table(
                name="choice",
                title="Share of the next choices, by utilization in the queue (1: fair)",
                columns=("utilization %", *MODES),
                rows=tuple(_choice_rows(moments)),
            ),
            Table(
                name="steadiness",
                title="Utilization of a worker over a run, percent",
                columns=("mode", "mean", "deviation", "± 95 %", "change per queue"),
                rows=tuple(steadiness),
            ),
            Table(
                name="series",
                title="The first run",
                columns=("mode", "seconds", "worker", "utilization %", "share"),
                rows=tuple((name, *moment) for name, runs in told.items() for moment in runs[0]),
                shown=False,
            ),
        ),
    )


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Draw the first run by score and by our weights, and the choices by utilization."""
    series = report.table("series").rows
    for panel, name in zip(axes, list(MODES)[1:3], strict=False):
        for worker, colour in enumerate(COLOURS):
            mine = [row for row in series if row[0] == name and row[2] == worker]
            panel.plot(numbers([row[1] for row in mine]), numbers([row[3] for row in mine]),
                       color=colour, label=f"worker {worker}")  # fmt: skip
        panel.set_title(name)
        panel.set_xlabel("seconds")
        panel.set_ylabel("utilization %")
        panel.set_ylim(0, 103)
        panel.legend(fontsize="small", ncols=2)
    choice = report.table("choice")
    middles = [low + 5 for low in BINS]
    for name in MODES:
        axes[2].plot(middles, numbers(choice.column(name)), "o-", label=name)
    axes[2].axhline(1.0, color="black", linestyle="--", label="fair share")
    axes[2].set_title("Who gets the next requests")
    axes[2].set_xlabel("utilization in the queue, %")
    axes[2].set_ylabel("share of the choices (1: fair)")
    axes[2].legend(fontsize="small")


def _requests(wish: Timeseries) -> int:
    return round(wish.load * WORKERS * RATE * wish.seconds)


def _observe(name: str, wish: Timeseries, number: int, watcher: Watcher) -> list[Moment]:
    """Run one mode once; return what each queue said and which share each worker then got."""
    watcher.tell(name)
    mode, seed = MODES[name], wish.seed * wish.runs + number
    weigh = mode.weigh(random.Random(seed))
    queues: list[tuple[float, Sequence[float], list[int]]] = []

    def watch(now: float, used: Sequence[float]) -> None:
        queues.append((now, used, scored.stage.picks))

    setting = Setting(mode.policy, wish.load, _requests(wish), [RATE] * WORKERS, seed=seed)
    scored = Scored(setting, EVERY, _noted(weigh, queues) if mode.random_queue else weigh, watch)
    scored.run()
    watcher.step()
    return list(_moments(queues))


def _noted(weigh: Weigh, queues: list[tuple[float, Sequence[float], list[int]]]) -> Weigh:
    """Note the queue's own scores: with random queues these count, not the measured utilization."""

    def noting(scores: Sequence[float]) -> Sequence[float]:
        told = weigh(scores)
        now, _, picks = queues[-1]
        queues[-1] = (now, [100.0 - score for score in told], picks)
        return told

    return noting


def _moments(queues: Sequence[tuple[float, Sequence[float], list[int]]]) -> Iterator[Moment]:
    for (now, used, before), (_, _, after) in pairwise(queues):
        chosen = [late - early for late, early in zip(after, before, strict=True)]
        for worker, (one, picks) in enumerate(zip(used, chosen, strict=True)):
            if total := sum(chosen):
                yield Moment(now, worker, one, WORKERS * picks / total)


def _choice_rows(moments: dict[str, list[Moment]]) -> Iterator[tuple[Cell, ...]]:
    for low in BINS:
        high = low + BINS.step if low + BINS.step < 100 else 101  # the last bin includes 100
        shares = [[one.share for one in each if low <= one.used < high]
                  for each in moments.values()]  # fmt: skip
        means = [fmean(each) if each else None for each in shares]
        yield (f"{low}…{low + BINS.step}", *means)


def _steadiness_row(name: str, runs: Sequence[Sequence[Moment]]) -> tuple[Cell, ...]:
    deviations, changes, means = [], [], []
    for moments in runs:
        for worker in range(WORKERS):
            used = [one.used for one in moments if one.worker == worker]
            means.append(fmean(used))
            deviations.append(pstdev(used))
            changes.append(fmean(abs(b - a) for a, b in pairwise(used)))
    told = estimate(deviations)
    return (name, fmean(means), told.mean, told.margin, fmean(changes))


def _above(moments: Sequence[Moment], *, high: bool) -> float:
    shares = [one.share for one in moments if (one.used >= HIGH) == high]
    return fmean(shares) if shares else float("nan")


def _answer(steadiness: Sequence[tuple[Cell, ...]]) -> str:
    _, by_score, ours, equal = MODES
    swing = {row[0]: float(row[2] or 0) for row in steadiness}
    return (
        "Sending requests by score, as the paper does, makes a worker's utilization deviate by "
        f"{swing[by_score]:.0f} points from its mean. With our damped weights it is "
        f"{swing[ours]:.0f} points; the traffic alone causes {swing[equal]:.0f}."
    )


def _reading(moments: dict[str, list[Moment]], steadiness: Sequence[tuple[Cell, ...]]) -> str:
    drawn, by_score, ours, equal = MODES
    swing = {row[0]: float(row[2] or 0) for row in steadiness}
    own = 1 - (swing[equal] / swing[by_score]) ** 2
    above, below = (_above(moments[drawn], high=high) for high in (True, False))
    return (
        f"The paper says that the chance of new requests drops above {HIGH:g} % utilization. With "
        f"its random queues it does: a worker above gets {above:.2f} of its fair share, one below "
        f"{below:.2f}. But there is no step at {HIGH:g} %: the share falls evenly, as the weight "
        "is the score. If scores are measured, the same rule overshoots: a busy worker gets few "
        "requests, is idle in the next queue, and then gets too many. Utilization deviates by "
        f"{swing[by_score]:.1f} points with weights by score, by {swing[ours]:.1f} with our "
        f"damped weights on a ring, and by {swing[equal]:.1f} with equal weights, which is the "
        f"effect of the traffic alone. So the rule itself causes {own:.0%} of the variance with "
        "weights by score; the paper takes that for unavoidable."
    )
