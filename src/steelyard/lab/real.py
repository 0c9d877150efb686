"""Push or pull on real processes, beside the simulation of the same job.

The lab itself starts no process: the caller of this experiment passes a `play` that does (the
command line has one that starts balancers and nodes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Protocol

from steelyard.lab.compare import SPEEDS
from steelyard.lab.figure import numbers
from steelyard.lab.job import Job, Outcome, draw_job
from steelyard.lab.mesh import Mesh
from steelyard.lab.push import Central, Network, Push
from steelyard.lab.report import Bar, Cell, Report, Table
from steelyard.lab.watcher import Watcher

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "compare-real"
PANELS = 2
PULL = "pull (mesh)"
LINE = "least_in_flight, one each"
PUSHED = ("weighted_ring", "least_in_flight", "shortest_wait", LINE)
SCENARIOS = ("nobody dies", "a node dies")
COLUMNS = (
    "scenario", "method", "makespan / ideal", "simulated", "capacity used %", "simulated ",
    "work lost %", "simulated  ", "messages / unit", "simulated   ", "worst real run",
)  # fmt: skip
DRAWS = 20  # simulations of one job under a balancer: which node gets the largest unit is luck
NOTICE = 0.05  # seconds: the connections of a killed process are closed at once


class Played(Protocol):
    """How a job ended, simulated or not."""

    @property
    def makespan(self) -> float: ...
    @property
    def delivered(self) -> int: ...
    @property
    def lost(self) -> float: ...
    @property
    def messages(self) -> int: ...
    @property
    def used(self) -> float: ...


Case = tuple[Job, Played, Played]  # a job, how it ended, and how its simulation ended
Rows = dict[tuple[str, str], tuple[Cell, ...]]  # by scenario and method
Play = Callable[[Job, str, int], Played]  # its arguments: a job, a method, and units open per node


@dataclass(frozen=True, slots=True)
class Real:
    """Jobs with a seed each, for so many nodes. Units take `seconds` on average at speed 1;
    `window` is the number of units open at the balancer, per node.
    """

    play: Play
    units: int = 150
    seconds: float = 0.3
    nodes: int = 4
    window: int = 4
    runs: int = 3
    seed: int = 1


def run(wish: Real, watcher: Watcher) -> Report:
    """Run every method on the same jobs, without deaths and with a node killed."""
    cases = [(scenario, method) for scenario in SCENARIOS for method in (*PUSHED, PULL)]
    watcher.begin(wish.runs * len(cases), "jobs")
    told: dict[tuple[str, str], list[Case]] = {case: [] for case in cases}
    for number in range(wish.runs):
        for scenario, method in cases:  # by turns, so that a disturbance hits all methods alike
            watcher.tell(f"{scenario}, {method}")
            job = real_job(wish, SCENARIOS.index(scenario), number)
            real = wish.play(job, method, wish.window)
            told[scenario, method].append((job, real, _simulated(job, method, wish)))
            watcher.step()
    rows: Rows = {case: (*case, *_cells(played)) for case, played in told.items()}
    right = all(one.delivered == wish.units for played in told.values() for _, one, _ in played)
    return Report(
        name=NAME,
        title="Push or pull, on real processes",
        method=_method(wish),
        answer=_answer(rows),
        reading=_reading(rows),
        seed=wish.seed,
        requests=wish.runs * len(told) * wish.units,
        tables=(
            Table(
                name="jobs",
                title="Jobs on this machine, and the simulation of the same jobs",
                columns=COLUMNS,
                rows=tuple(rows.values()),
            ),
        ),
        bars=(
            Bar(
                what=(
                    "every unit is delivered exactly once, by real processes of which one is killed"
                ),
                got="none missing or twice" if right else "some missing or twice",
                met=right,
            ),
        ),
    )


def real_job(wish: Real, deaths: int, number: int = 0) -> Job:
    """A job as `compare` draws it, with fewer and shorter units."""
    speeds = [SPEEDS[-1 - number % len(SPEEDS)] for number in range(wish.nodes)]
    drawn = draw_job(wish.units, speeds, deaths, wish.seed + number)
    return Job(
        [work * wish.seconds for work in drawn.works],
        speeds,
        {node: time * wish.seconds for node, time in drawn.deaths.items()},
    )


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Draw real and simulated makespans, a row per method."""
    names = list(dict.fromkeys(str(row[1]) for row in report.table("jobs").rows))[::-1]
    for panel, scenario in zip(axes, SCENARIOS, strict=True):
        found = [row for row in report.table("jobs").rows if row[0] == scenario]
        places = [names.index(str(row[1])) for row in found]
        for shift, column, colour, label in (
            (0.2, 2, "#0072B2", "real processes"),
            (-0.2, 3, "#999999", "simulated"),
        ):
            panel.barh([place + shift for place in places], numbers([row[column] for row in found]),
                       height=0.38, color=colour, label=label)  # fmt: skip
        panel.set_yticks(range(len(names)), names, fontsize="small")
        panel.set_xlabel("makespan / the shortest possible")
        panel.set_title(scenario)
        panel.axvline(1.0, color="black", linewidth=1)
    axes[0].legend(fontsize="small")


def _simulated(job: Job, method: str, wish: Real) -> Played:
    network = Network(notice=NOTICE)
    if method == PULL:
        return Mesh(job, network).run()
    one_each = method == LINE
    policy = "least_in_flight" if one_each else method
    central = Central(policy, one_each=one_each, window=wish.window)
    return _mean([Push(job, central, network, wish.seed + draw).run() for draw in range(DRAWS)])


def _mean(told: Sequence[Outcome]) -> Outcome:
    return Outcome(
        makespan=fmean(one.makespan for one in told),
        delivered=min(one.delivered for one in told),
        lost=fmean(one.lost for one in told),
        messages=round(fmean(one.messages for one in told)),
        used=fmean(one.used for one in told),
    )


def _cells(played: Sequence[Case]) -> tuple[float, ...]:
    """Means over the jobs, real and simulated in alternation, and the worst real run."""
    real = [_shares(job, told) for job, told, _ in played]
    simulated = [_shares(job, told) for job, _, told in played]
    both = zip(_means(real), _means(simulated), strict=True)
    return (*(cell for pair in both for cell in pair), max(shares[0] for shares in real))


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(column) for column in zip(*rows, strict=True)]


def _shares(job: Job, told: Played) -> tuple[float, float, float, float]:
    return (
        told.makespan / job.ideal,
        100 * told.used,
        100 * told.lost / job.total,
        told.messages / len(job.works),
    )


def _method(wish: Real) -> str:
    speeds = ", ".join(f"{speed:g}" for speed in real_job(wish, 0).speeds)
    return (
        f"{wish.runs} jobs of {wish.units} units, whose work is Pareto distributed "
        f"({wish.seconds:g} s on average at speed 1), on {wish.nodes} processes of speeds "
        f"{speeds}. Units sleep, so that they do not compete for this machine's cores. `steelyard "
        "balancer` pushes them to HTTP servers that do one unit at a time, for a client with "
        f"{wish.window} units open per node; or nodes of `steelyard mesh worker` pull them. With "
        "every method the same node is killed (SIGKILL) at the same time. Nodes log what they "
        "do, and lost work is counted from these logs. A balancer's messages are requests and "
        "answers on both its sides, the mesh's are pulls and grants; keep-alives are not "
        "counted. The table shows means. It is a matter of luck which node gets the largest "
        "units in a real run, and the load of the machine has an effect. So pushing is simulated "
        f"{DRAWS} times; the mesh's own code draws no random numbers, and is simulated once."
    )


def _of(rows: Rows, scenario: int, name: str, at: int) -> float:
    return float(rows[SCENARIOS[scenario], name][at] or 0)


def _answer(rows: Rows) -> str:
    best = min(PUSHED, key=lambda name: _of(rows, 0, name, 2))
    return (
        f"On real processes the mesh takes {_of(rows, 0, PULL, 2):.2f} times the shortest "
        f"possible time ({_of(rows, 1, PULL, 2):.2f} when a node is killed). The best way to push "
        f"(`{best}`) takes {_of(rows, 0, best, 2):.2f} ({_of(rows, 1, best, 2):.2f}), a ring "
        f"{_of(rows, 0, 'weighted_ring', 2):.2f} ({_of(rows, 1, 'weighted_ring', 2):.2f})."
    )


def _reading(rows: Rows) -> str:
    off = [abs(float(row[2] or 0) / float(row[3] or 1) - 1) for row in rows.values()]
    return (
        f"The simulation is off by {max(off):.0%} at most, and by {sum(off) / len(off):.0%} on "
        "average, for two reasons. In a few real runs it is a matter of luck which node gets the "
        "largest units; and processes, HTTP and Zenoh take time to pass units on, the more the "
        f"busier the machine is. The mesh needs {_of(rows, 0, PULL, 8):.1f} messages per unit, a "
        f"balancer {_of(rows, 0, 'least_in_flight', 8):.1f}. When a node was killed, "
        f"{_of(rows, 1, PULL, 6):.1f} % of the job's work was done for nothing in the mesh, "
        f"copies of late units included, and {_of(rows, 1, 'least_in_flight', 6):.1f} % under "
        "`least_in_flight`."
    )
