"""The score of a worker: 0…100, 100 is best; utilization is U = 100 − score.

`s = w_c·s_c + w_m·s_m + w_n·s_n + w_a·s_a` with weights that sum to 1 (seed 000, 3.1), and one
correction: a worker is never scored better than its CPU. With the published weights the sum
alone gives a worker that burns all of its one core a U of 35, which is neither HU nor a reason
to scale: the reference implementation never did (docs/decisions/0004).
"""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.usage import Usage, clip


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the score counts; only their proportions matter."""

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
    """The component scores; no response time yet counts as available."""
    return Components(
        cpu=clip(100.0 - usage.cpu),
        memory=clip(100.0 - usage.memory),
        network=clip(100.0 - network_usage),
        availability=100.0 if availability is None else clip(availability),
    )


def weighted_sum(parts: Components, weights: Weights) -> float:
    """The published sum."""
    return (
        weights.cpu * parts.cpu
        + weights.memory * parts.memory
        + weights.network * parts.network
        + weights.availability * parts.availability
    ) / weights.total


def score(parts: Components, weights: Weights) -> float:
    """The published sum, at most the CPU's part of it."""
    return clip(min(weighted_sum(parts, weights), parts.cpu))


def network_usage(rate: float, previous: float | None, capacity: float | None) -> float:
    """Percent of the network in use, 0…100.

    With a capacity (MB/s) it is the share of it. Without, it is the paper's relative change to
    the previous sample, which is 0 while there is none to compare with.
    """
    if capacity is not None:
        return clip(100.0 * rate / capacity)
    if not previous:
        return 0.0
    return clip(100.0 * (rate - previous) / previous)
