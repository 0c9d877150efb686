"""Usage: shares of what a worker is allowed."""

from __future__ import annotations

import pytest

from steelyard.core.usage import Allowance, Machine, Sample, usage_between

MACHINE = Machine(cpus=4, memory=1000)


def sample(at: float, cpu: float, memory: int = 0, wait: float = 0.0, net: int | None = None):
    return Sample(at=at, cpu_seconds=cpu, memory=memory, cpu_wait_seconds=wait, network_bytes=net)


@pytest.mark.parametrize(
    ("cpu", "wait", "allowance", "expected"),
    [
        (0.0, 0.0, Allowance(), 0),
        (1.0, 0.0, Allowance(), 50),  # half of one core
        (2.0, 0.0, Allowance(), 100),  # all of one core
        (8.0, 0.0, Allowance(), 100),  # four cores: clipped
        (1.0, 0.0, Allowance(cpus=0.5), 100),  # half a core out of half a core
        (1.0, 0.0, Allowance(cpus=2), 25),
        (0.5, 1.5, Allowance(), 100),  # wants all of a core, but neighbours take most of it
    ],
)
def test_cpu_is_a_share_of_the_allowance(cpu, wait, allowance, expected):
    """CPU is relative to the limit, and waiting for a core counts as using it."""
    usage = usage_between(
        sample(10, 5.0, wait=3), sample(12, 5.0 + cpu, wait=3 + wait), allowance, MACHINE
    )
    assert usage.cpu == pytest.approx(expected)


def test_memory_is_a_share_of_the_limit_or_of_the_machine():
    """Without a limit of its own a worker shares the machine's memory."""
    before, after = sample(0, 0), sample(1, 0, memory=250)
    assert usage_between(before, after, Allowance(), MACHINE).memory == 25
    assert usage_between(before, after, Allowance(memory=500), MACHINE).memory == 50


def test_network_is_a_rate_in_megabytes():
    """The rate is bytes in both directions in MB per second, or None if unknown."""
    usage = usage_between(sample(0, 0, net=0), sample(2, 0, net=4_000_000), Allowance(), MACHINE)
    assert usage.network == 2
    assert usage_between(sample(0, 0), sample(2, 0, net=1), Allowance(), MACHINE).network is None


def test_counters_that_went_back_count_as_no_use():
    """Counters fall when a child process or thread ends, which counts as no usage."""
    usage = usage_between(sample(0, 5, wait=5), sample(1, 4, wait=4), Allowance(), MACHINE)
    assert usage.cpu == 0


def test_samples_must_be_in_order():
    """Two samples at the same time have no rate, and raise an error."""
    with pytest.raises(ValueError, match="out of order"):
        usage_between(sample(1, 0), sample(1, 0), Allowance(), MACHINE)
