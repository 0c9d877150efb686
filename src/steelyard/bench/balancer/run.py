"""A whole run: for each case all contenders at once, asked in turn."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from steelyard.bench.balancer.backend import FIELDS_PATH, Backend
from steelyard.bench.balancer.cases import Case, Kind
from steelyard.bench.balancer.contenders import Contender
from steelyard.bench.balancer.report import Absence, Sample
from steelyard.bench.balancer.round import Bench, Target, play
from steelyard.bench.balancer.verify import fault
from steelyard.bench.launch import Launched, LaunchError
from steelyard.bench.ports import answers, free_port
from steelyard.bench.proxies.base import Site

IDLE_ROUNDS = 2  # at most: memory hardly varies, and each round needs a fresh process

Outcome = Sample | Absence
Tell = Callable[[str], None]


class Plan(NamedTuple):
    """Which contenders, which cases, and how many rounds."""

    contenders: Sequence[Contender]
    cases: Sequence[Case]
    rounds: int

    def rounds_of(self, case: Case) -> int:
        return min(self.rounds, IDLE_ROUNDS) if case.kind is Kind.IDLE else self.rounds

    def steps(self) -> int:
        """How many samples there will be, if no contender fails."""
        return sum(
            self.rounds_of(case) * sum(one.takes_part(case) for one in self.contenders)
            for case in self.cases
        )


def run(plan: Plan, bench: Bench, tell: Tell) -> Generator[Outcome, None, None]:
    """Yield samples and absences as they come; `tell` is told what is done next."""
    for case in plan.cases:
        folder = _new(bench.folder / case.name / "backend")
        with Backend(case.kind, folder, bench.cores.rest) as backend:
            runs = _fresh if case.kind is Kind.IDLE else _together
            yield from runs(plan, bench, case, backend, tell)


def _together(
    plan: Plan, bench: Bench, case: Case, backend: Backend, tell: Tell
) -> Iterator[Outcome]:
    """Run a case with all contenders up. Each round asks them in another order, so that none always
    follows the same.
    """
    with ExitStack() as stack:
        targets: list[Target] = []
        for contender in plan.contenders:
            if contender.takes_part(case):
                tell(f"{case.title}: starting {contender.name}")
                started = _start(stack, bench, contender, case, backend)
                if isinstance(started, Target):
                    targets.append(started)
                else:
                    yield started
        for number in range(plan.rounds_of(case)):
            for target in _rotated(targets, number):
                tell(f"{case.title}: {target.name}, round {number + 1}")
                yield play(bench, case, target, backend, number)


def _fresh(plan: Plan, bench: Bench, case: Case, backend: Backend, tell: Tell) -> Iterator[Outcome]:
    """Run a case with a fresh proxy for each round: a process does not give used memory back."""
    failed: set[str] = set()
    for number in range(plan.rounds_of(case)):
        for contender in plan.contenders:
            if contender.name in failed or not contender.takes_part(case):
                continue
            tell(f"{case.title}: {contender.name}, round {number + 1}")
            with ExitStack() as stack:
                started = _start(stack, bench, contender, case, backend)
                if isinstance(started, Target):
                    yield play(bench, case, started, backend, number)
                else:
                    failed.add(contender.name)
                    yield started


def _start(
    stack: ExitStack, bench: Bench, contender: Contender, case: Case, backend: Backend
) -> Target | Absence:
    folder = _new(bench.folder / case.name / contender.name)
    site = Site(free_port(), (backend.member,), folder, tunnel=case.kind is Kind.WEBSOCKET)
    command = contender.proxy.command(site)
    process = stack.enter_context(Launched(command, bench.cores.proxy, folder / "log"))
    try:
        process.wait_until(lambda: answers(site.listen, FIELDS_PATH), contender.name)
    except LaunchError as error:
        return Absence(contender=contender.name, case=case.name, reason=error.message)
    wrong = fault(case, site.listen)
    if wrong:
        return Absence(contender=contender.name, case=case.name, reason=wrong)
    return Target(contender.name, process.pid, site.listen)


def _rotated(targets: list[Target], number: int) -> list[Target]:
    first = number % len(targets) if targets else 0
    return targets[first:] + targets[:first]


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
