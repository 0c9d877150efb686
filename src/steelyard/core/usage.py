"""Usage: what a worker consumed between two samples, as a share of what it is allowed.

CPU usage is `ΔCPU/ΔSystem · N_CPU · 100 %` (seed 000, 3.1). ΔSystem is `N_CPU · Δt`, whether the
machine is idle or busy, so this is CPU seconds per second. We correct the paper in two points:

* usage is relative to the worker's CPU limit, so half a core used out of half a core is 100 %;
* time in which the worker is runnable but waits for a core counts as used. On a machine with more
  busy workers than cores, each worker gets a slice of a core. By CPU time alone all of them would
  look half idle at the very moment the machine is saturated (docs/decisions/0004).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a worker may consume; None means that it has no limit of its own."""

    cpus: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """The cores and the memory (bytes) that the workers share."""

    cpus: int
    memory: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Counters of one worker at one moment."""

    at: float  # seconds on the agent's clock
    cpu_seconds: float  # CPU time used since the worker's start
    memory: int  # bytes now, without page cache
    cpu_wait_seconds: float = 0.0  # time runnable but without a core; 0 if the system has no count
    network_bytes: int | None = None  # None: the runtime has no count; balancers report one


@dataclass(frozen=True, slots=True)
class Usage:
    """Consumption between two samples."""

    cpu: float  # percent of the allowance, 0…100
    memory: float  # percent of the limit or of the machine, 0…100
    network: float | None  # MB/s


def usage_between(before: Sample, after: Sample, allowance: Allowance, machine: Machine) -> Usage:
    """Usage from `before` to `after`; a counter that went backwards counts as no usage."""
    elapsed = after.at - before.at
    if elapsed <= 0:
        raise ValueError(f"samples out of order: {before.at} then {after.at}")
    used = after.cpu_seconds - before.cpu_seconds
    waited = max(0.0, after.cpu_wait_seconds - before.cpu_wait_seconds)
    return Usage(
        cpu=percent(max(0.0, used) + waited, elapsed * (allowance.cpus or 1.0)),
        memory=percent(after.memory, allowance.memory or machine.memory),
        network=_network_rate(before, after, elapsed),
    )


def percent(part: float, whole: float) -> float:
    """`part` in percent of `whole`, clipped to 0…100."""
    return clip(100.0 * part / whole)


def clip(value: float, low: float = 0.0, high: float = 100.0) -> float:
    """The nearest value within the bounds."""
    return min(high, max(low, value))


def _network_rate(before: Sample, after: Sample, elapsed: float) -> float | None:
    if before.network_bytes is None or after.network_bytes is None:
        return None
    return max(0, after.network_bytes - before.network_bytes) / elapsed / 1e6
