"""The score of a worker: 0…100, 100 is best; utilization is U = 100 − score.

The score is `s = w_c·s_c + w_m·s_m + w_n·s_n + w_a·s_a` with weights that sum to 1 (seed 000, 3.1),
and one correction: it is never better than the score of the CPU alone. With the published weights
the sum gives a worker that uses all of its one core a U of 35. That is neither HU nor a reason to
scale, and so the reference implementation never scaled (docs/decisions/0004).
"""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.usage import Usage, clip


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each part of the score; only their proportions matter."""

    cpu: float = 0.35
    memory: float = 0.25
    network: float = 0.15
    availability: float = 0.25

    @property
    def total(self) -> float:
        return self.cpu + self.memory + self.network + self.availability


@dataclass(frozen=True, slots=True)
class Components:
    """The parts of a score, each 0…100, 100 is best."""

    cpu: float
    memory: float
    network: float
    availability: float


def components(usage: Usage, network_usage: float, availability: float | None) -> Components:
    """The component scores; a worker without a response time yet counts as fully available."""
    return Components(
        cpu=clip(100.0 - usage.cpu),
        memory=clip(100.0 - usage.memory),
        network=clip(100.0 - network_usage),
        availability=100.0 if availability is None else clip(availability),
    )


def weighted_sum(parts: Components, weights: Weights) -> float:
    """The weighted sum of the paper."""
    return (
        weights.cpu * parts.cpu
        + weights.memory * parts.memory
        + weights.network * parts.network
        + weights.availability * parts.availability
    ) / weights.total


def score(parts: Components, weights: Weights) -> float:
    """The weighted sum of the paper, but at most the score of the CPU."""
    return clip(min(weighted_sum(parts, weights), parts.cpu))


def network_usage(rate: float, previous: float | None, capacity: float | None) -> float:
    """Percent of the network in use, 0…100.

    With a capacity (MB/s), the usage is the share of the capacity. Without one, it is the growth of
    the rate since the previous sample, as in the paper; it is 0 if there is nothing to compare
    with.
    """
    if capacity is not None:
        return clip(100.0 * rate / capacity)
    if not previous:
        return 0.0
    return clip(100.0 * (rate - previous) / previous)
