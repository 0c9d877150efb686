"""The meter of one worker: samples, traffic and probes go in, a score comes out."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.core.availability import Availability, Memory
from steelyard.core.report import Traffic
from steelyard.core.score import Components, Weights, components, network_usage, score
from steelyard.core.usage import Allowance, Machine, Sample, Usage, usage_between


@dataclass(frozen=True, slots=True)
class Rating:
    """The machine, weights and settings that scores are calculated with."""

    machine: Machine
    weights: Weights = field(default_factory=Weights)
    memory: Memory = field(default_factory=Memory)
    network_capacity: float | None = None


@dataclass(slots=True)
class Tally:
    """A sum of response times, and their number."""

    count: int = 0
    seconds: float = 0.0

    def add(self, count: int, seconds: float) -> None:
        self.count += count
        self.seconds += seconds

    def take(self) -> float | None:
        """The mean of the times added since the last call; None if there were none."""
        mean = self.seconds / self.count if self.count else None
        self.count, self.seconds = 0, 0.0
        return mean


@dataclass(slots=True)
class Meter:
    """Measures one worker.

    Response times of requests and of probes are kept apart: a probe is so much cheaper than a
    request that, mixed, every request would look slow beside the best probe.
    """

    rating: Rating
    score: float = 100.0
    usage: Usage | None = None
    parts: Components | None = None
    rate: float | None = None  # MB/s, at the last sample
    _last: Sample | None = None
    _bytes: int = 0
    _requests: Tally = field(default_factory=Tally)
    _probes: Tally = field(default_factory=Tally)
    _request_times: Availability = field(init=False)
    _probe_times: Availability = field(init=False)

    def __post_init__(self) -> None:
        self._request_times = Availability(self.rating.memory)
        self._probe_times = Availability(self.rating.memory)

    @property
    def utilization(self) -> float:
        return 100.0 - self.score

    def add_traffic(self, traffic: Traffic) -> None:
        self._bytes += traffic.bytes
        self._requests.add(sum(traffic.histogram), traffic.seconds)

    def add_probe(self, seconds: float) -> None:
        self._probes.add(1, seconds)

    def restart(self) -> None:
        """Forget the last sample, so that the CPU used by booting does not look like load."""
        self._last = None

    def take(self, sample: Sample, allowance: Allowance) -> None:
        """Calculate the score of the worker anew from its newest sample."""
        before, self._last = self._last, sample
        if before is None or sample.at <= before.at:
            return
        self.usage = usage_between(before, sample, allowance, self.rating.machine)
        rate = self._network_rate(self.usage, sample.at - before.at)
        in_use = network_usage(rate, self.rate, self.rating.network_capacity)
        self.rate = rate
        self.parts = components(self.usage, in_use, self._availability(sample.at))
        self.score = score(self.parts, self.rating.weights)

    def _network_rate(self, usage: Usage, elapsed: float) -> float:
        told, self._bytes = self._bytes, 0
        return usage.network if usage.network is not None else told / elapsed / 1e6

    def _availability(self, now: float) -> float | None:
        request, probe = self._requests.take(), self._probes.take()
        if request is not None:
            return self._request_times.add(request, now)
        if probe is not None:
            return self._probe_times.add(probe, now)
        return None if self.parts is None else self.parts.availability
