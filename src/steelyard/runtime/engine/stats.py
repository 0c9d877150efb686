"""The engine's counters of one container, as samples: one stream per container, about one a second.

Memory is counted as in the process runtime (sampling): anonymous and shared memory, without the
page cache. The kernel keeps both on its lists of anonymous pages, in control groups of version 1
(where `total_…` includes subgroups) and of version 2. Source: ContainerStats in the Engine API,
v1.41; memory.stat in the kernel's documentation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
from aiodocker.containers import DockerContainer
from aiodocker.exceptions import DockerError

from steelyard.core.usage import Sample

_LISTS = ("active_anon", "inactive_anon")
_FIRST = 3.0  # seconds to wait for the first sample; the engine sends one every second
_AGAIN = 1.0  # seconds until a broken stream is opened again


def read_stats(stats: Mapping[str, Any], at: float, waited: float = 0.0) -> Sample | None:
    """The counters as a sample; None for the zeros that the engine sends of an ended container."""
    memory = stats.get("memory_stats") or {}
    used = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)
    if not memory or not used:
        return None
    networks = stats.get("networks") or {}
    return Sample(
        at=at,
        cpu_seconds=used / 1e9,
        memory=_own_memory(memory),
        cpu_wait_seconds=waited,
        network_bytes=sum(one["rx_bytes"] + one["tx_bytes"] for one in networks.values()),
    )


def _own_memory(memory: Mapping[str, Any]) -> int:
    lists: Mapping[str, int] = memory.get("stats") or {}
    total = "total_" if "total_active_anon" in lists else ""
    return sum(lists.get(f"{total}{name}", 0) for name in _LISTS)


async def newest(counters: Mapping[str, Counters]) -> dict[str, Sample]:
    """The newest sample of each worker; a worker without any is left out."""
    samples = await asyncio.gather(*(one.newest(_FIRST) for one in counters.values()))
    return {name: it for name, it in zip(counters, samples, strict=True) if it is not None}


class Counters:
    """Keeps the newest sample of one container."""

    def __init__(
        self,
        container: DockerContainer,
        clock: Callable[[], float],
        waited: Callable[[], float],
    ) -> None:
        self._container = container
        self._clock = clock
        self._waited = waited
        self._first = asyncio.Event()
        self._newest: Sample | None = None

    def begin(self) -> None:
        """Record that a container that has just been started has used nothing."""
        self._take(Sample(at=self._clock(), cpu_seconds=0.0, memory=0, network_bytes=0))

    async def follow(self) -> None:
        """Record the engine's samples until cancelled."""
        while True:
            with contextlib.suppress(DockerError, aiohttp.ClientError, OSError, ValueError):
                async for stats in self._container.stats():
                    sample = read_stats(stats, self._clock(), self._waited())
                    if sample is not None:
                        self._take(sample)
            await asyncio.sleep(_AGAIN)

    async def newest(self, patience: float) -> Sample | None:
        """The newest sample; for an adopted container, wait for the first one."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._first.wait(), patience)
        return self._newest

    def _take(self, sample: Sample) -> None:
        self._newest = sample
        self._first.set()
