"""The figures of a round, and their summary over rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel

from steelyard.bench.noise import DISTURBED
from steelyard.bench.stats import median, percentile, spread
from steelyard.bench.tail.client import LONGEST, Answer

LATE = 10.0  # ms; a client that is later than this distorts its own measurement


class Round(BaseModel):
    """The figures of one contender in one round."""

    contender: str
    round: int
    requests: int
    errors: int
    p50_ms: float | None
    p99_ms: float | None
    eta: float | None
    served: list[int]  # requests that each worker served
    load: float  # requests sent, as a share of what the workers can do
    late_ms: float | None  # 99th percentile of how late the client asked
    foreign: float


class Line(BaseModel):
    """One contender: medians over its rounds."""

    contender: str
    rounds: int
    disturbed: int
    errors: int
    p50_ms: float | None
    p99_ms: float | None
    p99_spread: float | None
    eta: float | None


class TailReport(BaseModel):
    """The report of one run."""

    date: str
    machine: str
    command: str
    rates: list[float]
    weights: list[int]  # the weights that the proxies were given
    load: float
    seconds: int
    seed: int
    absences: dict[str, str]
    notes: list[str]
    lines: list[Line]
    rounds: list[Round]


def eta(served: Sequence[int], weights: Sequence[float]) -> float | None:
    """How evenly requests were spread for their weights: 1 is exactly, 0 is not at all."""
    shares = [count / weight for count, weight in zip(served, weights, strict=True)]
    return min(shares) / max(shares) if max(shares) else None


def sum_up_round(
    contender: str,
    number: int,
    answers: Sequence[Answer],
    rates: Sequence[float],
    seconds: float,
    foreign: float,
) -> Round:
    """Sum a round up. Requests without an answer count as slow ones: a proxy must not look better
    because it fails some.
    """
    times = [
        (answer.seconds if answer.worker is not None else max(answer.seconds, LONGEST)) * 1e3
        for answer in answers
    ]
    counts = Counter(answer.worker for answer in answers)
    served = [counts[worker] for worker in range(len(rates))]
    return Round(
        contender=contender,
        round=number,
        requests=len(answers),
        errors=counts[None],
        p50_ms=percentile(times, 50),
        p99_ms=percentile(times, 99),
        eta=eta(served, rates),
        served=served,
        load=len(answers) / seconds / sum(rates),
        late_ms=percentile([answer.late * 1e3 for answer in answers], 99),
        foreign=foreign,
    )


def sum_up(rounds: Sequence[Round]) -> list[Line]:
    """Sum up each contender in a line, in the order of their first rounds."""
    names = dict.fromkeys(one.contender for one in rounds)
    return [_line([one for one in rounds if one.contender == name]) for name in names]


def _line(rounds: Sequence[Round]) -> Line:
    p99s = [one.p99_ms for one in rounds if one.p99_ms is not None]
    return Line(
        contender=rounds[0].contender,
        rounds=len(rounds),
        disturbed=sum(one.foreign > DISTURBED for one in rounds),
        errors=sum(one.errors for one in rounds),
        p50_ms=median([one.p50_ms for one in rounds if one.p50_ms is not None]),
        p99_ms=median(p99s),
        p99_spread=spread(p99s),
        eta=median([one.eta for one in rounds if one.eta is not None]),
    )
