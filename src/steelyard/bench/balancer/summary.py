"""What samples sum up to: medians over rounds, their spread, and ratios of medians."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import BaseModel

from steelyard.bench.balancer.contenders import HAPROXY, NGINX, TUNED
from steelyard.bench.balancer.report import Report, Sample
from steelyard.bench.stats import median, ratio, spread


class Summary(BaseModel):
    """One contender in one case."""

    contender: str
    case: str
    rounds: int
    disturbed: int  # rounds
    errors: int
    cpu_us: float | None
    spread: float | None  # of what the ratios are of
    user_us: float | None
    rate: float | None
    p50_us: float | None
    p99_us: float | None
    memory: float | None
    idle_bytes: float | None
    to_nginx: float | None = None
    to_haproxy: float | None = None
    to_tuned: float | None = None  # the better of those with 64 KiB buffers


class Summaries(BaseModel):
    """A run as programs read it."""

    report: Report
    summaries: list[Summary]


def summarise(report: Report) -> Summaries:
    """Cases and contenders in the order in which they were first measured."""
    groups: dict[str, dict[str, list[Sample]]] = {}
    for sample in report.samples:
        groups.setdefault(sample.case, {}).setdefault(sample.contender, []).append(sample)
    lines = [line for case in groups.values() for line in _of_case(case)]
    return Summaries(report=report, summaries=lines)


def _of_case(groups: dict[str, list[Sample]]) -> Iterable[Summary]:
    plain = {name: _summary(samples) for name, samples in groups.items()}
    costs = {name: _cost(line) for name, line in plain.items()}
    tuned = [cost for name in TUNED if (cost := costs.get(name)) is not None]
    for name, line in plain.items():
        yield line.model_copy(
            update={
                "to_nginx": ratio(costs[name], costs.get(NGINX)),
                "to_haproxy": ratio(costs[name], costs.get(HAPROXY)),
                "to_tuned": ratio(costs[name], min(tuned, default=None)),
            }
        )


def _cost(line: Summary) -> float | None:
    """What ratios are of: CPU per request; where nobody asks, memory."""
    return line.idle_bytes if line.idle_bytes is not None else line.cpu_us


def _summary(samples: Sequence[Sample]) -> Summary:
    idle = any(sample.idle_bytes is not None for sample in samples)
    costs = _known(samples, lambda one: one.idle_bytes if idle else one.cpu_us)
    timed = [] if idle else samples  # the questions before the silence are not a load
    return Summary(
        contender=samples[0].contender,
        case=samples[0].case,
        rounds=len(samples),
        disturbed=sum(bool(one.disturbed) for one in samples),
        errors=sum(one.errors for one in samples),
        cpu_us=median(_known(timed, lambda one: one.cpu_us)),
        spread=spread(costs),
        user_us=median(_known(timed, lambda one: one.user_us)),
        rate=median([one.requests / one.seconds for one in timed]),
        p50_us=median([one.p50_us for one in timed]),
        p99_us=median([one.p99_us for one in timed]),
        memory=median([one.memory for one in samples]),
        idle_bytes=median(_known(samples, lambda one: one.idle_bytes)),
    )


def _known(samples: Sequence[Sample], of: Callable[[Sample], float | None]) -> list[float]:
    return [value for one in samples if (value := of(one)) is not None]
