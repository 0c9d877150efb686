"""Push or pull? The claim of seed 002: one job under a central balancer, and pulled by nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from steelyard.errors import UsageError
from steelyard.lab.figure import numbers
from steelyard.lab.job import Job, Outcome, draw_job
from steelyard.lab.mesh import Mesh
from steelyard.lab.pull import Hedge, Pull
from steelyard.lab.push import Central, Network, Push
from steelyard.lab.report import Bar, Cell, Report, Table
from steelyard.lab.stats import estimate
from steelyard.lab.watcher import Watcher
from steelyard.select import KEYED, POLICIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "compare"
PANELS = 2
SPEEDS = (1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 8.0)  # repeated for more nodes
NETWORK = Network()
SCENARIOS = ("nobody dies", "nodes die", "the balancer dies")
COLOURS = ("#0072B2", "#D55E00", "#E69F00")
SEEDS_PULL, PULL = "pull, as in seed 002", "pull, not hedged"
FASTER, MESH = "pull, hedged on faster nodes", "pull (mesh)"
LINE = "least_in_flight, one each"
INFORMED = "{}, knows speeds"

# Its arguments are a job, a seed, and when the balancer dies (None: never).
Method = Callable[[Job, int, float | None], Outcome]
Rows = dict[tuple[str, str], tuple[Cell, ...]]  # by scenario and method


@dataclass(frozen=True, slots=True)
class Compare:
    """Units and nodes of one job, the share of nodes that dies, and runs with a seed each."""

    units: int = 2000
    nodes: int = 16
    dying: float = 0.25
    runs: int = 40
    window: int = 4  # units open at the balancer, per node
    seed: int = 1


def run(wish: Compare, watcher: Watcher) -> Report:
    """Run every method on the same jobs, in every scenario that applies to it."""
    deaths = round(wish.dying * wish.nodes)
    if deaths >= wish.nodes:
        raise UsageError(
            f"{deaths} of {wish.nodes} nodes would die, and nobody could finish the job",
            hint="a smaller share of dying nodes, or more nodes",
        )
    methods = _methods(wish.window)
    cases = [(scenario, name) for scenario in SCENARIOS for name in methods
             if scenario != SCENARIOS[2] or not name.startswith("pull")]  # fmt: skip
    watcher.begin(len(cases), "cases")
    told = {case: _runs(*case, methods[case[1]], wish, watcher) for case in cases}
    rows = {case: _row(*case, outcomes) for case, outcomes in told.items()}
    return Report(
        name=NAME,
        title="Push or pull?",
        method=_method(wish, deaths),
        answer=_answer(rows),
        reading=_reading(rows),
        seed=wish.seed,
        requests=len(cases) * wish.runs * wish.units,
        tables=(
            Table(
                name="jobs",
                title="One job: makespan over the shortest possible, and what it took",
                columns=(
                    "scenario",
                    "method",
                    "makespan / ideal",
                    "± 95 %",
                    "worst run",
                    "capacity used %",
                    "work lost %",
                    "messages / unit",
                ),
                rows=tuple(rows.values()),
            ),
        ),
        bars=(_all_delivered(told, wish.units),),
    )


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Draw makespan and lost work: a row per method, a colour per scenario."""
    rows = report.table("jobs").rows
    names = list(dict.fromkeys(str(row[1]) for row in rows))[::-1]
    shown = (
        (axes[0], 2, "How long a job takes", "makespan / the shortest possible (95 % interval)"),
        (axes[1], 6, "Work done for nothing", "% of the job's work"),
    )
    for panel, column, title, axis in shown:
        for shift, (scenario, colour) in enumerate(zip(SCENARIOS, COLOURS, strict=True)):
            found = [row for row in rows if row[0] == scenario]
            places = [names.index(str(row[1])) + 0.25 * (1 - shift) for row in found]
            values = numbers([row[column] for row in found])
            error = numbers([row[3] for row in found]) if column == 2 else None
            panel.errorbar(values, places, xerr=error, fmt="o", markersize=4, color=colour,
                           label=scenario)  # fmt: skip
        panel.set_yticks(range(len(names)), names, fontsize="small")
        panel.set_xlabel(axis)
        panel.set_title(title)
    axes[0].set_xlim(left=1.0)
    axes[0].legend(fontsize="small")


def _methods(window: int) -> dict[str, Method]:
    """All methods by name: each policy of a balancer, some of them with more knowledge, and
    pulling.
    """
    central = {name: Central(name, window=window) for name in (*POLICIES, *KEYED)}
    for name in ("weighted_ring", "least_in_flight"):
        central[INFORMED.format(name)] = Central(name, informed=True, window=window)
    central[LINE] = Central("least_in_flight", one_each=True, window=window)
    pulls = {
        SEEDS_PULL: Hedge.OLDEST,
        PULL: Hedge.NOTHING,
        FASTER: Hedge.FASTER,
    }
    return {**{name: _push(one) for name, one in central.items()},
            **{name: _pull(hedge) for name, hedge in pulls.items()},
            MESH: lambda job, _, __: Mesh(job, NETWORK).run()}  # fmt: skip


def _push(central: Central) -> Method:
    return lambda job, seed, crash: Push(job, central, NETWORK, seed, crash).run()


def _pull(hedge: Hedge) -> Method:
    return lambda job, _, __: Pull(job, hedge, NETWORK).run()


def _runs(
    scenario: str, name: str, method: Method, wish: Compare, watcher: Watcher
) -> list[tuple[Job, Outcome]]:
    watcher.tell(f"{scenario}, {name}")
    outcomes = []
    speeds = [SPEEDS[number % len(SPEEDS)] for number in range(wish.nodes)]
    deaths = round(wish.dying * wish.nodes) if scenario == SCENARIOS[1] else 0
    for number in range(wish.runs):
        seed = wish.seed * wish.runs + number
        job = draw_job(wish.units, speeds, deaths, seed)
        crash = job.ideal / 2 if scenario == SCENARIOS[2] else None
        outcomes.append((job, method(job, seed, crash)))
    watcher.step()
    return outcomes


def _row(scenario: str, name: str, outcomes: Sequence[tuple[Job, Outcome]]) -> tuple[Cell, ...]:
    span = estimate([told.makespan / job.ideal for job, told in outcomes])
    lost = fmean(told.lost / job.total for job, told in outcomes)
    used = fmean(told.used for _, told in outcomes)
    messages = fmean(told.messages / len(job.works) for job, told in outcomes)
    return (scenario, name, span.mean, span.margin, span.most, 100 * used, 100 * lost, messages)


def _all_delivered(told: dict[tuple[str, str], list[tuple[Job, Outcome]]], units: int) -> Bar:
    missing = sum(units - one.delivered for outcomes in told.values() for _, one in outcomes)
    return Bar(
        what="every unit is delivered exactly once, whatever dies",
        got=f"{missing} missing or twice",
        met=not any(one.delivered != units for outcomes in told.values() for _, one in outcomes),
    )


def _method(wish: Compare, deaths: int) -> str:
    repeated = ", ".join(f"{speed:g}" for speed in SPEEDS)
    return (
        f"{wish.units:,} units for {wish.nodes} nodes of speeds {repeated} and again; {wish.runs} "
        "runs with different seeds, and the same jobs for every method. The work of a unit is "
        "Pareto distributed (α = 1.5, a second on average at speed 1). A message takes "
        f"{NETWORK.hop * 1e3:g} ms. Under a balancer the client keeps {wish.window} units per "
        f"node open. In “nodes die”, {deaths} of the nodes die at random times; the others know "
        f"it {NETWORK.notice:g} s later, and the units of the dead nodes are done again "
        "elsewhere. In “the balancer dies”, it dies half way through the job, and is back "
        f"{Central('').restart:g} s later. The balancer's weights are equal unless it knows the "
        "speeds. With “one each”, units wait at the balancer until a node is free (the gateway's "
        "`worker_concurrency`). “pull (mesh)” is the mesh's own code on virtual time, with one "
        "child in each node; the other ways to pull are written for the lab. Heartbeats are not "
        "counted."
    )


def _of(rows: Rows, scenario: int, name: str, column: int = 2) -> float:
    return float(rows[SCENARIOS[scenario], name][column] or 0)


def _best(rows: Rows, scenario: int) -> tuple[str, float]:
    """The best policy of a balancer that knows nothing of the nodes, and its makespan."""
    found = min((*POLICIES, *KEYED), key=lambda name: _of(rows, scenario, name))
    return found, _of(rows, scenario, found)


def _answer(rows: Rows) -> str:
    name, span = _best(rows, 0)
    return (
        f"Pull: nodes that fetch their work need {_of(rows, 0, MESH):.2f} times the shortest "
        "possible time, and there is no balancer that could die. A balancer that pushes needs "
        f"{span:.2f} with its best policy (`{name}`) and {_of(rows, 0, 'weighted_ring'):.2f} with "
        "a ring."
    )


def _reading(rows: Rows) -> str:
    of = partial(_of, rows)
    calm, calm_span = _best(rows, 0)
    dying, dying_span = _best(rows, 1)
    return (
        "Seed 002 says that a system without a central balancer is robust, but badly balanced, "
        "and needs more nodes for the same work. Here the first claim holds, and the second does "
        "not. A balancer that does not know the nodes gives the slowest as much as the fastest "
        f"(`weighted_ring`: {of(0, 'weighted_ring'):.2f} times the shortest possible time). A "
        f"balancer that looks at how many units wait at each node (`{calm}`: {calm_span:.2f}) "
        f"reaches what pulling reaches without any knowledge ({of(0, PULL):.2f}). So does one "
        f"that keeps units until a node is free ({of(0, LINE):.2f}): that is pulling, with twice "
        "the messages. What remains above 1 is mostly the last large unit at a slow node. Copies "
        f"of that unit help: {of(0, FASTER):.2f} if only faster nodes get one, and "
        f"{of(0, MESH):.2f} in the mesh, where any idle node gets the second copy, as the first "
        "may hang, and one of the fastest nodes gets the third. The seed's own rule, to give out "
        f"again any unit that is under way, takes {of(0, SEEDS_PULL):.2f}, with "
        f"{of(0, SEEDS_PULL, 6):.0f} % of the work done for nothing (mesh: {of(0, MESH, 6):.0f} "
        f"%) and {of(0, SEEDS_PULL, 7):.0f} messages per unit (mesh: {of(0, MESH, 7):.0f}). When "
        f"nodes die, the mesh takes {of(1, MESH):.2f}, and the best policy that pushes, "
        f"`{dying}`, takes {dying_span:.2f}; the work that dies with the nodes is small either "
        f"way. When the balancer dies, `{calm}` takes {of(2, calm):.2f} and loses "
        f"{of(2, calm, 6):.0f} % of the work, because nobody receives the results of the nodes; a "
        "mesh has no balancer to lose."
    )
