"""`steelyard bench lab`: the time that a million simulated requests take."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from steelyard.bench import machine
from steelyard.bench.markdown import write_section
from steelyard.cli.bench_common import WriteOption, show_cells
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.lab_common import load
from steelyard.cli.watch import RichWatcher
from steelyard.markdown import markdown_table

COLUMNS = ("", "requests", "CPU s", "requests/s", "verdict")
MOST = 30.0  # seconds for a million requests, on one core
WORKERS, LOAD = 8, 0.8
POLICIES = ("weighted_ring", "power_of_two", "least_in_flight", "shortest_wait")


class Speed(BaseModel):
    """The result of one simulation."""

    name: str
    requests: int
    seconds: float  # of CPU time

    @property
    def kept(self) -> bool:
        return self.seconds <= MOST * self.requests / 1e6


class Speeds(BaseModel):
    """The results of all simulations."""

    date: str
    machine: str
    command: str
    speeds: list[Speed]


def bench_lab(
    requests: Annotated[int, typer.Option(min=1000, help="Requests per simulation.")] = 1_000_000,
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """Measure the CPU seconds of a million simulated requests, on one core."""
    queueing = load("queueing")
    console = Messages()
    told = Speeds(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        command=shlex.join(["steelyard", *sys.argv[1:]]),
        speeds=[],
    )
    with RichWatcher(console) as watcher:
        watcher.begin(1 + len(POLICIES), "simulations")
        for name, simulate in _simulations(queueing, requests).items():
            watcher.tell(name)
            before = time.process_time()
            simulate()
            seconds = time.process_time() - before
            told.speeds.append(Speed(name=name, requests=requests, seconds=seconds))
            watcher.step()
    if json:
        print_json(told)
    else:
        show_cells("simulated requests", COLUMNS, map(_row, told.speeds))
    if write is not None:
        write_section(write, "lab", _page(told))
        console.print(f"wrote {write}", markup=False)


def _simulations(queueing: Any, requests: int) -> dict[str, Callable[[], object]]:
    def staged(policy: str) -> Callable[[], object]:
        setting = queueing.Setting(policy, LOAD, requests, [1.0] * WORKERS)
        return lambda: queueing.Stage(setting).run()

    lines: dict[str, Callable[[], object]] = {
        "M/M/1": lambda: queueing.one_line(LOAD, 1, requests, 1)
    }
    return lines | {f"{policy} of {WORKERS}": staged(policy) for policy in POLICIES}


def _row(one: Speed) -> list[str]:
    rate = one.requests / one.seconds if one.seconds else 0.0
    verdict = f"{'kept' if one.kept else 'NOT KEPT'}: {MOST:g} s for a million"
    return [one.name, f"{one.requests:,}", f"{one.seconds:.1f}", f"{rate:,.0f}", verdict]


def _page(told: Speeds) -> str:
    setting = f"{told.date}, {told.machine}. Command: `{told.command}`."
    how = f"Load {LOAD:.0%}, seed 1, one process, CPU time; from the first arrival to the last end."
    table = markdown_table(COLUMNS, map(_row, told.speeds))
    return "\n\n".join(["## How fast the lab simulates", setting, how, table])
