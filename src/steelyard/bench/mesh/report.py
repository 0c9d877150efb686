"""The figures of a round, and their summary over rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel

from steelyard.bench.noise import DISTURBED
from steelyard.bench.stats import median, spread


class Case(NamedTuple):
    """A number of equal units."""

    units: int
    milliseconds: float  # of CPU time, each

    def __str__(self) -> str:
        return f"{self.units:,} units of {self.milliseconds:g} ms"

    def ideal(self, cores: int) -> float:
        """Seconds that the units would take without any overhead."""
        return self.units * self.milliseconds / 1000 / cores


class Round(BaseModel):
    """The figures of one contender in one case in one round."""

    contender: str
    case: str
    round: int
    units_s: float
    wall_us: float  # wall time beyond the ideal, per unit
    cpu_us: float  # CPU time beyond the units' own, per unit
    ideal: float  # the ideal time's share of the real time: 1 is perfect
    messages: float | None  # per unit
    foreign: float


class Line(BaseModel):
    """One contender in one case: medians over its rounds."""

    contender: str
    case: str
    rounds: int
    disturbed: int
    units_s: float | None
    wall_us: float | None
    wall_spread: float | None
    cpu_us: float | None
    ideal: float | None
    messages: float | None


class Verdict(BaseModel):
    """A bar, and the figure that was measured."""

    what: str
    bar: str
    found: float | None  # None: one of the contenders was not measured
    kept: bool | None


class MeshReport(BaseModel):
    """The report of one run."""

    date: str
    machine: str
    command: str
    workers: int
    cores: int
    versions: dict[str, str]
    absences: dict[str, str]
    notes: list[str]
    bars: list[Verdict]
    lines: list[Line]
    rounds: list[Round]


def sum_up(rounds: Sequence[Round]) -> list[Line]:
    """Sum up each case and contender, in the order in which they came."""
    groups: dict[tuple[str, str], list[Round]] = {}
    for case in dict.fromkeys(one.case for one in rounds):
        for one in rounds:
            if one.case == case:
                groups.setdefault((case, one.contender), []).append(one)
    return [_line(group) for group in groups.values()]


def _line(group: Sequence[Round]) -> Line:
    messages = [one.messages for one in group if one.messages is not None]
    return Line(
        contender=group[0].contender,
        case=group[0].case,
        rounds=len(group),
        disturbed=sum(one.foreign > DISTURBED for one in group),
        units_s=median([one.units_s for one in group]),
        wall_us=median([one.wall_us for one in group]),
        wall_spread=spread([one.wall_us for one in group]),
        cpu_us=median([one.cpu_us for one in group]),
        ideal=median([one.ideal for one in group]),
        messages=median(messages),
    )
