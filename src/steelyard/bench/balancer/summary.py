"""Summaries of samples: medians over rounds, their spread, and ratios of medians."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import BaseModel

from steelyard.bench.balancer.contenders import TUNED
from steelyard.bench.balancer.report import Report, Sample
from steelyard.bench.stats import median, ratio, spread


class Summary(BaseModel):
    """The summary of one contender in one case."""

    contender: str
    case: str
    rounds: int
    disturbed: int  # number of disturbed rounds
    errors: int
    cpu_us: float | None
    spread: float | None  # spread of the figure that the ratios compare
    user_us: float | None
    system_us: float | None
    rate: float | None
    p50_us: float | None
    p99_us: float | None
    memory: float | None
    idle_bytes: float | None
    reconnects: float | None  # per 1,000 requests
    ratios: dict[str, float] = {}  # by each other contender
    to_tuned: float | None = None  # ratio to the better of the contenders with 64 KiB buffers


def summarise(report: Report) -> list[Summary]:
    """Summarise cases and contenders in the order in which they were first measured."""
    groups: dict[str, dict[str, list[Sample]]] = {}
    for sample in report.samples:
        groups.setdefault(sample.case, {}).setdefault(sample.contender, []).append(sample)
    return [line for case in groups.values() for line in _of_case(case)]


def _of_case(groups: dict[str, list[Sample]]) -> Iterable[Summary]:
    plain = {name: _summary(samples) for name, samples in groups.items()}
    costs = {name: cost(line) for name, line in plain.items()}
    tuned = [known for name in TUNED if (known := costs.get(name)) is not None]
    for name, line in plain.items():
        ratios = {other: ratio(costs[name], costs[other]) for other in costs if other != name}
        yield line.model_copy(
            update={
                "ratios": {other: known for other, known in ratios.items() if known is not None},
                "to_tuned": ratio(costs[name], min(tuned, default=None)),
            }
        )


def cost(line: Summary) -> float | None:
    """The figure that ratios compare: CPU per request, or memory for idle connections."""
    return line.idle_bytes if line.idle_bytes is not None else line.cpu_us


def _summary(samples: Sequence[Sample]) -> Summary:
    idle = any(sample.idle_bytes is not None for sample in samples)
    costs = _known(samples, lambda one: one.idle_bytes if idle else one.cpu_us)
    timed = [] if idle else samples  # requests before the connections go idle are not a load
    return Summary(
        contender=samples[0].contender,
        case=samples[0].case,
        rounds=len(samples),
        disturbed=sum(bool(one.disturbed) for one in samples),
        errors=sum(one.errors for one in samples),
        cpu_us=median(_known(timed, lambda one: one.cpu_us)),
        spread=spread(costs),
        user_us=median(_known(timed, lambda one: one.user_us)),
        system_us=median(_known(timed, lambda one: one.system_us)),
        rate=median([one.requests / one.seconds for one in timed]),
        p50_us=median([one.p50_us for one in timed]),
        p99_us=median([one.p99_us for one in timed]),
        memory=median([one.memory for one in samples]),
        idle_bytes=median(_known(samples, lambda one: one.idle_bytes)),
        reconnects=median(_known(timed, _per_thousand)),
    )


def _per_thousand(one: Sample) -> float | None:
    if one.reconnects is None or not one.requests:
        return None
    return one.reconnects / one.requests * 1000


def _known(samples: Sequence[Sample], of: Callable[[Sample], float | None]) -> list[float]:
    return [value for one in samples if (value := of(one)) is not None]
