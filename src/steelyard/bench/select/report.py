"""The results: a line for each case, and the bars."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from math import sqrt

from pydantic import BaseModel, computed_field

from steelyard.bench.select.cases import BASELINE, FEW, MANY, RING, RINGS, SIZES, Build, Case, Kind
from steelyard.bench.select.subject import Sample
from steelyard.bench.stats import ratio

Z = 3.290527  # 99.9 % of a normal distribution lie within ±Z
FEWEST = 8  # samples; with fewer, the error of their mean is not known
# A pick is O(1), but among many members it finds its member in a farther cache than among eight.
# Compiled code has the member prefetched, Python cannot. So the pure build is compared with reading
# a plain list, which touches the same members in as random an order.
STEADY = 2.0
LIKE_A_LIST = 1.25  # allows for the noise of four figures

Cost = Callable[..., float | None]


class Line(BaseModel):
    """One case: nanoseconds of CPU time per pick or rebuild."""

    case: Case
    samples: int
    mean: float
    error: float | None  # half of the 99.9 % interval of the mean, as in the article
    deviation: float | None
    median: float
    per_second: float  # by wall time, all threads together

    @computed_field  # type: ignore[prop-decorator] # pydantic asks for both
    @property
    def milliseconds(self) -> float:
        return self.median / 1e6


class Verdict(BaseModel):
    """A bar, and the figure that was measured."""

    what: str
    most: float
    found: float | None  # None: not measured
    kept: bool | None


class SelectReport(BaseModel):
    """The report of one run."""

    date: str
    machine: str
    command: str
    rounds: int
    seconds: float
    notes: list[str]
    lines: list[Line]
    bars: list[Verdict]

    def find(
        self, build: Build, kind: Kind, policy: str, members: int = FEW, threads: int = 1
    ) -> Line | None:
        """The line of a case; None if it was not measured."""
        wanted = Case(build=build, kind=kind, policy=policy, members=members, threads=threads)
        return next((line for line in self.lines if line.case == wanted), None)


def sum_up(samples: Mapping[Case, Sequence[Sample]]) -> list[Line]:
    """Sum up each case in a line."""
    return [_line(case, found) for case, found in samples.items()]


def _line(case: Case, samples: Sequence[Sample]) -> Line:
    costs = without_outliers([one.cpu_ns for one in samples])
    deviation = statistics.stdev(costs) if len(costs) > 1 else None
    error = None
    if deviation is not None and len(costs) > FEWEST:
        error = student(len(costs) - 1) * deviation / sqrt(len(costs))
    return Line(
        case=case,
        samples=len(samples),
        mean=statistics.fmean(costs),
        error=error,
        deviation=deviation,
        median=statistics.median(one.cpu_ns for one in samples),
        per_second=1e9 / statistics.median(one.wall_ns for one in samples),
    )


def without_outliers(values: Sequence[float]) -> list[float]:
    """The values that are not far above the others (Tukey's fence), as BenchmarkDotNet does."""
    if len(values) < 4:
        return list(values)
    low, _, high = statistics.quantiles(values, n=4)
    return [value for value in values if value <= high + 1.5 * (high - low)]


def student(freedom: int) -> float:
    """The 99.95 % quantile of Student's t, by its expansion around the normal one (Abramowitz and
    Stegun 26.7.5); within 1 % from eight degrees of freedom on.

    >>> round(student(14), 2)
    4.14
    """
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    third = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    return Z + first / freedom + second / freedom**2 + third / freedom**3


def judge(lines: Sequence[Line]) -> list[Verdict]:
    """Judge the bars of the project's plan."""
    costs = {line.case: line.median for line in lines}

    def cost(build: Build, kind: Kind, policy: str, members: int = FEW) -> float | None:
        return costs.get(Case(build=build, kind=kind, policy=policy, members=members))

    return [
        *(_cheap_ring(cost, build) for build in Build if cost(build, Kind.PICK, RING)),
        _verdict("a pick from compiled code, ns", 10.0, cost(Build.COMPILED, Kind.STRIDE, RING)),
        _verdict(
            f"compiled: a pick among {SIZES[-1]:,} over one among {FEW}",
            STEADY,
            _growth(cost, Build.COMPILED, Kind.PICK),
        ),
        _verdict(
            f"pure: how a pick grows from {FEW} to {SIZES[-1]:,} members, over how reading a plain "
            "list of them does",
            LIKE_A_LIST,
            ratio(_growth(cost, Build.PURE, Kind.PICK), _growth(cost, Build.PURE, Kind.READ)),
        ),
        _verdict(
            f"compiled: a new ring of {MANY:,} members, ms",
            20.0,
            _milli(cost(Build.COMPILED, Kind.REBUILD, RING, MANY)),
        ),
    ]


def _growth(cost: Cost, build: Build, kind: Kind) -> float | None:
    return ratio(cost(build, kind, RING, SIZES[-1]), cost(build, kind, RING))


def _cheap_ring(cost: Cost, build: Build) -> Verdict:
    rings = [one for policy in RINGS if (one := cost(build, Kind.PICK, policy))]
    return _verdict(
        f"{build}: the best ring over locked random, one thread (article: 0.38)",
        0.10,
        ratio(min(rings), cost(build, Kind.PICK, BASELINE)),
    )


def _milli(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def _verdict(what: str, most: float, found: float | None) -> Verdict:
    kept = None if found is None else found <= most
    return Verdict(what=what, most=most, found=found, kept=kept)
