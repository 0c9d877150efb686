"""Rounds of the tail bench: for each, workers and proxy are started anew, with the round's seed."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from steelyard.bench import machine, tools
from steelyard.bench.launch import Command, Launched
from steelyard.bench.noise import DISTURBED, Quiet
from steelyard.bench.ports import accepts, answers, free_port
from steelyard.bench.proxies.base import Member, Proxy, Site
from steelyard.bench.tail.client import drive
from steelyard.bench.tail.report import LATE, Round, TailReport, sum_up, sum_up_round
from steelyard.bench.tail.workers import READY
from steelyard.bench.watcher import Watcher
from steelyard.python import module

RATES = (100.0, 50.0, 25.0, 5.0)  # requests per second of each worker
LOAD = 0.7  # of what the workers can do together


class Weights(StrEnum):
    """The weights that the proxies are given."""

    EQUAL = "equal"  # no information: the case where it matters how they choose
    TRUE = "true"

    def of(self, rate: float) -> int:
        return int(rate) if self is Weights.TRUE else 1


class TailWish(NamedTuple):
    """The options that the user chose."""

    contenders: Sequence[Proxy]
    rounds: int
    seconds: int
    seed: int
    weights: Weights
    install: bool
    command: str


def measure(wish: TailWish, watcher: Watcher) -> TailReport:
    """Do one run, with interleaved rounds."""
    if wish.install:
        programs = {one.program for one in wish.contenders} - {""}
        tools.install(sorted(programs), watcher.say)
    absences = {one.name: why for one in wish.contenders if (why := one.missing())}
    present = [one for one in wish.contenders if one.name not in absences]
    machine.raise_file_limit()
    watcher.begin(wish.rounds * len(present))
    rounds: list[Round] = []
    for number in range(wish.rounds):
        for proxy in present:
            watcher.tell(f"{proxy.name}, round {number + 1}")
            rounds.append(play(proxy, number, wish))
            watcher.step()
    return _report(wish, absences, rounds)


def play(proxy: Proxy, number: int, wish: TailWish) -> Round:
    """Run one contender once; the seed gives all contenders the same arrivals."""
    cores = machine.choose_cores()
    seed = wish.seed + number
    with tempfile.TemporaryDirectory(prefix="steelyard-tail-") as name, ExitStack() as stack:
        members = _start_workers(stack, Path(name), seed, cores.rest, wish.weights)
        port = _start_proxy(stack, proxy, members, Path(name), cores.proxy)
        stack.enter_context(machine.on_core(cores.rest))
        quiet = Quiet(set(cores))
        rng = random.Random(seed)
        answers = asyncio.run(drive(port, LOAD * sum(RATES), wish.seconds, rng))
        return sum_up_round(proxy.name, number, answers, RATES, wish.seconds, quiet.foreign())


def _start_workers(
    stack: ExitStack, folder: Path, seed: int, core: int, weights: Weights
) -> tuple[Member, ...]:
    members = tuple(Member(free_port(), weights.of(rate)) for rate in RATES)
    places = [f"{port}={rate}" for (port, _), rate in zip(members, RATES, strict=True)]
    words = module("steelyard.bench.tail.workers", str(seed), *places)
    workers = stack.enter_context(Launched(Command(words), core, folder / "workers.log"))
    workers.wait_until(lambda: all(accepts(member.port) for member in members), "the workers")
    return members


def _start_proxy(
    stack: ExitStack, proxy: Proxy, members: tuple[Member, ...], folder: Path, core: int
) -> int:
    site = Site(free_port(), members, folder)
    process = Launched(proxy.command(site), core, folder / "proxy.log")
    stack.enter_context(process)
    # Not `accepts`: a port may be listening before the program serves it, and the first requests
    # would measure how long the program takes to start.
    process.wait_until(lambda: answers(site.listen, READY), proxy.name)
    return site.listen


def _report(wish: TailWish, absences: dict[str, str], rounds: list[Round]) -> TailReport:
    lines = sum_up(rounds)
    return TailReport(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        command=wish.command,
        rates=list(RATES),
        weights=[wish.weights.of(rate) for rate in RATES],
        load=LOAD,
        seconds=wish.seconds,
        seed=wish.seed,
        absences=absences,
        notes=_notes(rounds),
        lines=lines,
        rounds=rounds,
    )


def _notes(rounds: Sequence[Round]) -> list[str]:
    """Notes on what makes the figures doubtful."""
    disturbed = sum(one.foreign > DISTURBED for one in rounds)
    late = sum((one.late_ms or 0.0) > LATE for one in rounds)
    notes = []
    if disturbed:
        notes.append(f"the machine was noisy: {disturbed} of {len(rounds)} rounds were disturbed")
    if late:
        notes.append(f"the client asked late in {late} of {len(rounds)} rounds")
    return notes
