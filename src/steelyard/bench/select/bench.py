"""Rounds over all cases, in an order that changes from round to round."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import NamedTuple

from steelyard.bench import machine
from steelyard.bench.launch import LaunchError
from steelyard.bench.noise import DISTURBED, Quiet
from steelyard.bench.select.cases import Build, Case, cases
from steelyard.bench.select.report import Line, SelectReport, judge, sum_up
from steelyard.bench.select.subject import Order, Sample
from steelyard.bench.watcher import Watcher
from steelyard.purity import VARIABLE, is_built
from steelyard.python import module


class SelectWish(NamedTuple):
    """The options that the user chose."""

    rounds: int
    seconds: float  # seconds of one sample
    most: int  # members, at most
    command: str


class Asked:
    """The process of a subject; a context manager that ends it."""

    def __init__(self, build: Build) -> None:
        wish = "0" if build is Build.COMPILED else "1"
        self._process = subprocess.Popen(
            module("steelyard.bench.select.subject"),
            env={**os.environ, VARIABLE: wish},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def measure(self, case: Case, seconds: float) -> Sample:
        """Measure one sample of a case."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None  # noqa: S101 # for the type checker: both are pipes
        assert told is not None  # noqa: S101
        try:
            asked.write(Order(case=case, seconds=seconds).model_dump_json() + "\n")
            asked.flush()
        except BrokenPipeError:
            raise LaunchError("the process that measures has ended; it said why above") from None
        if not (line := told.readline()):
            raise LaunchError("the process that measures has ended; it said why above")
        return Sample.model_validate_json(line)


def measure(wish: SelectWish, watcher: Watcher) -> SelectReport:
    """Do one run, with interleaved rounds. The first round does not count, as selectors are made in
    it.
    """
    builds = [Build.COMPILED, Build.PURE] if is_built() else [Build.PURE]
    every = cases(builds, wish.most)
    samples: dict[Case, list[Sample]] = {case: [] for case in every}
    foreign = []
    watcher.begin((wish.rounds + 1) * len(every), "samples to take")
    with ExitStack() as stack:
        subjects = {build: stack.enter_context(Asked(build)) for build in builds}
        for number in range(wish.rounds + 1):
            quiet = Quiet(range(machine.count()))
            for case in random.Random(number).sample(every, len(every)):
                watcher.tell(f"{case.kind}, {case.policy} of {case.members:,}, {case.build}")
                sample = subjects[case.build].measure(case, wish.seconds)
                if number:
                    samples[case].append(sample)
                watcher.step()
            if number:
                foreign.append(quiet.foreign())
    return _report(wish, sum_up(samples), foreign, is_built())


def _report(
    wish: SelectWish, lines: list[Line], foreign: Sequence[float], built: bool
) -> SelectReport:
    disturbed = sum(one > DISTURBED for one in foreign)
    notes = [] if built else ["not compiled here: `make build`, for all figures"]
    if disturbed:
        notes.append(
            f"the machine was noisy: in {disturbed} of {len(foreign)} rounds others took more than "
            f"{DISTURBED:.0%} of the cores (up to {max(foreign):.0%})"
        )
    return SelectReport(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        command=wish.command,
        rounds=wish.rounds,
        seconds=wish.seconds,
        notes=notes,
        lines=lines,
        bars=judge(lines),
    )
