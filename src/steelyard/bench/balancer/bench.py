"""From a wish to a report: prepare, run, and note what a reader must know."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.bench import machine, tools
from steelyard.bench.balancer.cases import Case, Kind
from steelyard.bench.balancer.contenders import Contender
from steelyard.bench.balancer.report import Absence, Report, Sample, Setting
from steelyard.bench.balancer.round import Bench, Load
from steelyard.bench.balancer.run import Plan, run
from steelyard.bench.watcher import Watcher
from steelyard.errors import Fault, SteelyardError

CROWD = 10_000  # idle connections, if the machine has room for them
SPARE_FILES = 500  # files that a proxy needs beyond its clients


class BenchError(SteelyardError):
    """The bench cannot run here."""

    fault = Fault.MACHINE


class Wish(NamedTuple):
    """The options that the user chose."""

    contenders: Sequence[Contender]
    cases: Sequence[Case]
    rounds: int
    seconds: int
    connections: int
    crowd: int
    install: bool
    command: str


def measure(wish: Wish, watcher: Watcher) -> Report:
    """Do one run."""
    absences = _prepare(wish, watcher)
    gone = {one.contender for one in absences}
    plan = Plan([one for one in wish.contenders if one.name not in gone], wish.cases, wish.rounds)
    cores = machine.choose_cores()
    crowd = min(wish.crowd, machine.raise_file_limit() - SPARE_FILES)
    load = os.getloadavg()[0]
    watcher.begin(plan.steps())
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        bench = Bench(cores, Path(folder), Load(wish.seconds, wish.connections, crowd))
        # `closing`: if the watcher fails, closing the generator stops the processes that it
        # started.
        with machine.on_core(cores.rest), closing(run(plan, bench, watcher.tell)) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, Sample):
                    samples.append(outcome)
                    watcher.step()
                else:
                    absences.append(outcome)
    return Report(
        setting=_setting(wish, plan.contenders, load),
        notes=list(_notes(cores, crowd, wish, samples)),
        absences=absences,
        samples=samples,
    )


def _prepare(wish: Wish, watcher: Watcher) -> list[Absence]:
    """Install the programs. A contender without its program is absent; client and backend are
    required.
    """
    needed = {"nginx", "wrk"} | {one.proxy.program for one in wish.contenders} - {""}
    if wish.install:
        tools.install(sorted(needed), watcher.say)
        for contender in wish.contenders:
            contender.proxy.prepare(watcher.say)
    for program in ("nginx", "wrk"):
        if why := tools.why_missing(program):
            raise BenchError(
                f"the bench needs nginx as backend and wrk as client: {why}",
                hint=f"on Debian, as root: apt-get install {program}",
            )
    found = ((one.name, one.proxy.missing()) for one in wish.contenders)
    return [Absence(contender=name, reason=why) for name, why in found if why]


def _setting(wish: Wish, present: Iterable[Contender], load: float) -> Setting:
    versions = {one.name: one.proxy.version() for one in present if not one.bodies_only}
    wrk = tools.first_line(tools.find("wrk") or "", "-v").removeprefix("wrk ").split()
    return Setting(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        command=wish.command,
        rounds=wish.rounds,
        seconds=wish.seconds,
        connections=wish.connections,
        load=(round(load, 2), round(os.getloadavg()[0], 2)),
        versions={**versions, "wrk": wrk[0].removeprefix("debian/") if wrk else "unknown"},
    )


def _notes(
    cores: machine.Cores, crowd: int, wish: Wish, samples: Sequence[Sample]
) -> Iterable[str]:
    if not cores.apart:
        yield "only one core: proxy, client and backend shared it"
    if crowd < CROWD and any(case.kind is Kind.IDLE for case in wish.cases):
        why = "as was asked" if crowd == wish.crowd else "the limit of open files allows no more"
        yield f"only {crowd} idle connections: {why}"
    disturbed = sum(bool(one.disturbed) for one in samples)
    if disturbed:
        worst = max(one.foreign for one in samples)
        yield (
            f"the machine was noisy: {disturbed} of {len(samples)} rounds were disturbed by other "
            f"processes (up to {worst:.0%} of the cores); repeat it on a quiet machine"
        )
    failed = sorted({one.contender for one in samples if one.errors})
    if failed:
        yield f"requests failed, figures are not comparable: {', '.join(failed)}"
