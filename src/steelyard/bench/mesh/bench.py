"""Rounds of the mesh bench: each contender is started anew, warmed up, measured and ended."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.bench import machine, tools, venv
from steelyard.bench.mesh.bars import judge
from steelyard.bench.mesh.contenders import WORKERS, Contender, packages
from steelyard.bench.mesh.driver import Driver, DriverError
from steelyard.bench.mesh.report import Case, MeshReport, Round, sum_up
from steelyard.bench.noise import DISTURBED, Quiet
from steelyard.bench.watcher import Watcher


class MeshWish(NamedTuple):
    """The options that the user chose."""

    contenders: Sequence[Contender]
    short: Case
    long: Case
    rounds: int
    install: bool
    command: str


def measure(wish: MeshWish, watcher: Watcher) -> MeshReport:
    """Do one run, with interleaved rounds."""
    if wish.install:
        tools.install(
            ["redis-server"] if any(c.redis for c in wish.contenders) else [], watcher.say
        )
        venv.install(packages(list(wish.contenders)), watcher.say)
    absences = {one.name: why for one in wish.contenders if (why := one.missing())}
    present = [one for one in wish.contenders if one.name not in absences]
    watcher.begin(wish.rounds * len(present))
    rounds: list[Round] = []
    for number in range(wish.rounds):
        for contender in present:
            watcher.tell(f"{contender.name}, round {number + 1}")
            try:
                rounds += play(contender, number, (wish.short, wish.long))
            except DriverError as error:
                absences[contender.name] = error.message
                watcher.say(error.message)
            watcher.step()
    return _report(wish, absences, rounds)


def play(contender: Contender, number: int, cases: Sequence[Case]) -> Iterator[Round]:
    """Run one contender once, in every case."""
    with (
        tempfile.TemporaryDirectory(prefix="steelyard-mesh-") as folder,
        Driver(contender, Path(folder) / "log") as driver,
    ):
        for case in cases:
            quiet = Quiet(os.sched_getaffinity(0))
            run = driver.run(case.units, case.milliseconds)
            ideal = case.ideal(cores())
            own = case.units * case.milliseconds / 1000
            yield Round(
                contender=contender.name,
                case=str(case),
                round=number,
                units_s=case.units / run.seconds,
                wall_us=(run.seconds - ideal) / case.units * 1e6,
                cpu_us=(run.cpu - own) / case.units * 1e6,
                ideal=ideal / run.seconds,
                messages=None if run.messages is None else run.messages / case.units,
                foreign=quiet.foreign(),
            )


def cores() -> int:
    """How many units can really run at the same time."""
    return min(WORKERS, len(os.sched_getaffinity(0)))


def _report(wish: MeshWish, absences: dict[str, str], rounds: list[Round]) -> MeshReport:
    lines = sum_up(rounds)
    disturbed = sum(one.foreign > DISTURBED for one in rounds)
    note = f"the machine was noisy: {disturbed} of {len(rounds)} rounds were disturbed"
    measured = {line.contender for line in lines}
    return MeshReport(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        command=wish.command,
        workers=WORKERS,
        cores=cores(),
        versions={one.name: one.version() for one in wish.contenders if one.name in measured},
        absences=absences,
        notes=[note] if disturbed else [],
        bars=judge(lines, str(wish.short), str(wish.long)),
        lines=lines,
        rounds=rounds,
    )
