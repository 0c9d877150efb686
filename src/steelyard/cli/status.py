"""`steelyard status`: the workers, the policy's verdict, and the last decisions."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from steelyard.cli.common import (
    AgentOption,
    ConfigOption,
    JsonOption,
    StateOption,
    client_for,
    new_table,
    output,
    print_json,
)
from steelyard.core.lifecycle import State
from steelyard.core.status import FleetStatus, WorkerStatus

COLOURS = {
    State.INIT: "cyan",
    State.LU: "green",
    State.MU: "yellow",
    State.HU: "red",
    State.SUNDOWN: "magenta",
    State.SHUTDOWN: "bright_black",
}

COLUMNS = (
    "worker", ">pid", "id", "state", ">score", ">U", ">CPU %", ">memory %", ">MB/s", ">in flight",
    "address", "node", ">age", "",
)  # fmt: skip
WIDE_ONLY = {">score", ">MB/s", "address"}  # columns that a narrow terminal leaves out
WIDE = 110
ID = 12  # characters of an engine's id, as `docker ps` shows them


def status(
    decisions: Annotated[int, typer.Option(help="Number of decisions to show.", min=0)] = 8,
    json: JsonOption = False,
    agent: AgentOption = None,
    state: StateOption = None,
    config: ConfigOption = None,
) -> None:
    """Show the workers, their load, and the last decisions with their reasons."""
    told = client_for(config, state, agent).status()
    if json:
        print_json(told)
    else:
        show_status(output(), told, decisions)


def show_status(console: Console, told: FleetStatus, decisions: int = 8) -> None:
    """Print everything that a person wants to see at a glance."""
    _show_head(console, told)
    _show_workers(console, told)
    if told.decisions and decisions > 0:
        console.print()
        _show_decisions(console, told, decisions)


def _show_head(console: Console, told: FleetStatus) -> None:
    connected = sum(balancer.connected for balancer in told.balancers)
    console.print(
        f"[bold]{told.application}[/]: {told.ready} of {told.target} workers ready, "
        f"{_limits(told)} allowed, {connected} balancers, policy {told.policy}"
    )
    console.print(f"  {escape(told.verdict)}")
    if told.away:
        console.print(f"  [red]{escape(told.away)}[/]")
    if told.trouble:
        wait = f"next try in {told.next_try:.0f} s" if told.next_try else "trying again"
        console.print(
            f"  [red]{escape(told.trouble)}[/] ({told.failures} failures in a row; {wait})"
        )
    for note in told.notes:
        console.print(f"  [yellow]note: {escape(note)}[/]")
    if not told.ready:
        console.print("  [red]no worker is ready: requests are answered 503[/]")
    console.print()


def _limits(told: FleetStatus) -> str:
    now = f"{told.min}…{told.max}"
    if told.configured == (told.min, told.max):
        return now
    low, high = told.configured
    return f"{now} (set at run time; configured {low}…{high})"


def _show_workers(console: Console, told: FleetStatus) -> None:
    columns = [one for one in COLUMNS if console.width >= WIDE or one not in WIDE_ONLY]
    processes = all(worker.handle.isdigit() for worker in told.workers if worker.handle)
    columns.remove("id" if processes else ">pid")
    if not any(worker.node for worker in told.workers):
        columns.remove("node")
    table = new_table(*columns)
    # other columns shrink first: `drain` cannot take a name that is cut off
    for column in table.columns:
        column.no_wrap = column.header in {"worker", "pid", "id", "age"}
    for worker in told.workers:
        cells = dict(zip(COLUMNS, _worker_row(worker), strict=True))
        table.add_row(*(cells[one] for one in columns))
    console.print(table)


def _worker_row(worker: WorkerStatus) -> list[str]:
    colour = COLOURS[worker.state]
    unready = worker.state in {State.LU, State.MU, State.HU} and not worker.ready
    return [
        worker.name,
        worker.handle,
        worker.handle[:ID],
        f"[{colour}]{worker.state}[/]" + (" [red]not ready[/]" if unready else ""),
        f"{worker.score:.0f}",
        f"{worker.utilization:.0f}",
        _number(worker.cpu, 0),
        _number(worker.memory, 1),
        _number(worker.network, 2),
        str(worker.inflight),
        worker.address,
        worker.node,
        duration(worker.age),
        "default" if worker.default else escape(worker.problem),
    ]


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _show_decisions(console: Console, told: FleetStatus, count: int) -> None:
    table = new_table(">ago", "decision", "workers", "reason")
    for decision in told.decisions[-count:]:
        workers = ", ".join(decision.workers) or "fleet"
        table.add_row(duration(decision.ago), decision.action, workers, escape(decision.reason))
    console.print(table)


def duration(seconds: float) -> str:
    """A duration in at most two units."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
