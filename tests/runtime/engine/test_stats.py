"""Turning the engine's statistics into a sample."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.core.usage import Sample
from steelyard.runtime.engine.stats import read_stats

MB = 2**20
# memory.stat as the engine reports it: with control groups of version 1, and of version 2.
FIRST = {
    "active_anon": 1, "inactive_anon": 1, "cache": 90 * MB,
    "total_active_anon": 2 * MB, "total_inactive_anon": 3 * MB, "total_rss": 5 * MB,
}  # fmt: skip
SECOND = {"anon": 4 * MB, "shmem": MB, "file": 90 * MB, "active_anon": 2 * MB} | {
    "inactive_anon": 3 * MB
}


def stats(memory: dict[str, int], **more: Any) -> dict[str, Any]:
    """A message of the statistics stream."""
    return {
        "cpu_stats": {"cpu_usage": {"total_usage": 2_500_000_000}},
        "memory_stats": {"usage": 95 * MB, "limit": 200 * MB, "stats": memory},
        **more,
    }


@pytest.mark.parametrize("memory", [FIRST, SECOND])
def test_counters_are_read(memory: dict[str, int]) -> None:
    """CPU in seconds, memory without the page cache, all networks together."""
    networks = {
        "eth0": {"rx_bytes": 10, "tx_bytes": 20},
        "eth1": {"rx_bytes": 3, "tx_bytes": 4},
    }
    sample = read_stats(stats(memory, networks=networks), at=7.0)
    assert sample == Sample(at=7.0, cpu_seconds=2.5, memory=5 * MB, network_bytes=37)


def test_a_container_that_has_ended_has_no_counters() -> None:
    """The engine reports zeros, which would look like counters that went backwards."""
    nothing = {"cpu_stats": {"cpu_usage": {"total_usage": 0}}, "memory_stats": {}}
    assert read_stats(nothing, at=1.0) is None
