"""Is the simulator right? A comparison with closed forms and with published simulations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.lab.figure import numbers
from steelyard.lab.queueing import Setting, Stage, one_line
from steelyard.lab.report import Bar, Cell, Report, Table
from steelyard.lab.stats import Estimate, estimate
from steelyard.lab.theory import TWO_CHOICES_PUBLISHED, mmc_wait, two_choices_length
from steelyard.lab.watcher import Watcher

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "validate"
PANELS = 2
WARM_UP = 0.1  # share of a run that does not count
RUNS = 10
CLOSE = 0.02  # relative to the closed form
# A single waiting line needs longer runs: with 8 servers at half load only one request in 17 waits
# at all, and the interval of 10⁶ requests is ±4 %.
LONGER = 8
LINES = [(load, servers) for load in (0.5, 0.7) for servers in (1, 2, 8)]  # M/M/c
COLUMNS = ("simulated", "± 95 %", "off by %", "")


@dataclass(frozen=True, slots=True)
class Validate:
    """So many requests for each case."""

    requests: int = 1_000_000
    seed: int = 1


def run(wish: Validate, watcher: Watcher) -> Report:
    """Make both tables."""
    watcher.begin((len(LINES) + len(TWO_CHOICES_PUBLISHED)) * RUNS, "runs")
    each = wish.requests // RUNS
    waits = [_line_row(load, servers, LONGER * each, wish.seed, watcher) for load, servers in LINES]
    lengths = [_pair_row(load, workers, each, wish.seed, watcher)
               for load, workers in TWO_CHOICES_PUBLISHED]  # fmt: skip
    return Report(
        name=NAME,
        title="Is the simulator right?",
        method=(
            f"{RUNS} runs of {LONGER * each:,} requests for each case with one waiting line, and "
            f"of {each:,} for each case with two choices; the first tenth of a run does not "
            "count. Arrivals are Poisson; a service takes a second on average (exponential)."
        ),
        answer=_answer(waits, lengths),
        reading=_reading(waits, lengths),
        seed=wish.seed,
        requests=each * RUNS * (LONGER * len(LINES) + len(TWO_CHOICES_PUBLISHED)),
        tables=(
            Table(
                name="mmc",
                title="Mean wait in line of M/M/c, seconds",
                columns=("load", "servers", "Erlang C", *COLUMNS),
                rows=tuple(waits),
            ),
            Table(
                name="two-choices",
                title="Mean requests per worker, `power_of_two`, sampled with replacement",
                columns=("load", "workers", "infinitely many", "published", *COLUMNS),
                rows=tuple(lengths),
            ),
        ),
        bars=(
            _bar("mean waits of M/M/1 and M/M/c within 2 % of Erlang C", waits),
            _bar("two choices within 2 % of the published simulations", lengths),
        ),
    )


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Draw simulated and known values, a panel for each table."""
    for panel, name, known in zip(
        axes, ("mmc", "two-choices"), ("Erlang C", "published"), strict=True
    ):
        table = report.table(name)
        at = range(len(table.rows))
        panel.plot(at, numbers(table.column(known)), "k_", markersize=18, label=known)
        panel.errorbar(at, numbers(table.column("simulated")), numbers(table.column("± 95 %")),
                       fmt="o", color="#0072B2", label="simulated, 95 %")  # fmt: skip
        panel.set_xticks(at, [f"{row[0]}\n{row[1]}" for row in table.rows])
        panel.set_xlabel(f"load, {table.columns[1]}")
        panel.set_title(table.title.replace("`", ""))
        panel.legend()


def _line_row(
    load: float, servers: int, requests: int, seed: int, watcher: Watcher
) -> tuple[Cell, ...]:
    watcher.tell(f"M/M/{servers} at {load}")
    runs = []
    for number in range(RUNS):
        journal = one_line(load, servers, requests, _seed(seed, load, servers, number))
        runs.append(float(journal.waits(WARM_UP).mean()))
        watcher.step()
    known = mmc_wait(load, servers)
    return (load, servers, known, *_compared(estimate(runs), known))


def _pair_row(
    load: float, workers: int, requests: int, seed: int, watcher: Watcher
) -> tuple[Cell, ...]:
    watcher.tell(f"two choices of {workers} at {load}")
    runs = []
    for number in range(RUNS):
        setting = Setting(
            "power_of_two", load, requests, [1.0] * workers, seed=_seed(seed, load, workers, number)
        )
        times = Stage(setting).run().journal.times(WARM_UP)
        # Little's law: requests in the system = rate · time.
        runs.append(load * float(times.mean()))
        watcher.step()
    known = TWO_CHOICES_PUBLISHED[load, workers]
    return (load, workers, two_choices_length(load), known, *_compared(estimate(runs), known))


def _seed(seed: int, load: float, size: int, number: int) -> int:
    """A seed of its own for every run: with the same seeds all cases would err to the same side."""
    return random.Random(f"{seed} {load} {size} {number}").getrandbits(32)


def _compared(told: Estimate, known: float) -> tuple[Cell, ...]:
    off = told.mean / known - 1
    remark = "within the interval" if abs(told.mean - known) <= told.margin else ""
    return (told.mean, told.margin, round(100 * off, 2), remark)


def _bar(what: str, rows: Sequence[tuple[Cell, ...]]) -> Bar:
    worst = _worst(rows)
    return Bar(what=what, got=f"at most {worst:.2f} % off", met=worst <= 100 * CLOSE)


def _worst(rows: Sequence[tuple[Cell, ...]]) -> float:
    return max(abs(float(row[-2] or 0.0)) for row in rows)


def _answer(waits: Sequence[tuple[Cell, ...]], lengths: Sequence[tuple[Cell, ...]]) -> str:
    worst = max(_worst(waits), _worst(lengths))
    return f"{'Yes' if worst <= 2 else 'No'}: it is off by {worst:.1f} % at most from known values."


def _reading(waits: Sequence[tuple[Cell, ...]], lengths: Sequence[tuple[Cell, ...]]) -> str:
    inside = sum(bool(row[-1]) for row in [*waits, *lengths])
    return (
        f"The simulator is within {_worst(waits):.1f} % of the closed form for one waiting line, "
        f"and within {_worst(lengths):.1f} % of published simulations of two choices; {inside} of "
        f"{len(waits) + len(lengths)} known values lie within the 95 % interval of ours. So the "
        "results below are about the policies, not about the simulator."
    )
