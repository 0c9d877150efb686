"""`steelyard bench tls`: the cost of encryption and handshakes."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import BaseModel

from steelyard.bench.stats import ratio
from steelyard.bench.tls import CASES, NGINX, OURS, Cost, measure
from steelyard.cli.bench_common import chosen, show_cells
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher

COLUMNS = ("case", "ours, plain", "ours, TLS", "nginx, plain", "nginx, TLS", "ours : nginx, TLS")


class Costs(BaseModel):
    """The costs of all cases."""

    costs: list[Cost]


def bench_tls(
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Rounds per server and case.")] = 7,
    seconds: Annotated[int, typer.Option(min=1, max=60, help="Length of a round.")] = 2,
    connections: Annotated[
        int, typer.Option(min=1, max=1000, help="Connections of the client.")
    ] = 64,
    case: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="The cases to measure; by default all.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure CPU µs per request, plain and over TLS, of Steelyard and nginx."""
    names = chosen("case", case, {name: name for name in CASES})
    with RichWatcher(Messages()) as watcher:
        told = measure(rounds, seconds, connections, watcher, names)
    if json:
        print_json(Costs(costs=told))
    else:
        show_cells("CPU µs per request", COLUMNS, [_row(name, told) for name in names])


def _row(case: str, told: list[Cost]) -> list[str]:
    found = {(cost.server, cost.tls): cost.us for cost in told if cost.case == case}
    figures = [found.get((server, tls)) for server in (OURS, NGINX) for tls in (False, True)]
    times = ratio(figures[1], figures[3])
    shown = ["–" if figure is None else f"{figure:.1f}" for figure in figures]
    return [CASES[case].title, *shown, "–" if times is None else f"{times:.2f}"]
