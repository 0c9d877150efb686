"""How much time on the measured cores other programs took."""

from __future__ import annotations

import os
import time
from collections.abc import Collection

from steelyard.bench.usage import cpu_of
from steelyard.runtime.procfs import PROC

# Of the cores' time; below that, the 10 ms ticks of /proc/stat are noise themselves.
DISTURBED = 0.10
_TICKS = os.sysconf("SC_CLK_TCK")


class Quiet:
    """Watches the cores from its creation until `foreign()` is called."""

    def __init__(self, cores: Collection[int]) -> None:
        self._cores = cores
        self._began = time.monotonic()
        self._busy = self._busy_now()
        self._ours = cpu_of(os.getpid()).total  # all measured processes are our descendants

    def foreign(self) -> float:
        """The share (0…1) of the cores' time that was neither ours nor idle."""
        capacity = (time.monotonic() - self._began) * len(self._cores)
        ours = cpu_of(os.getpid()).total - self._ours
        busy = self._busy_now() - self._busy
        return min(max(busy - ours, 0.0) / capacity, 1.0) if capacity else 0.0

    def _busy_now(self) -> float:
        return busy_seconds((PROC / "stat").read_text(), self._cores)


def busy_seconds(text: str, cores: Collection[int]) -> float:
    """Seconds in which the cores were not idle, or taken away by the hypervisor (proc_stat(5)).

    If the kernel accounts interrupts apart, irq is above 0. Then the time of our own packets is in
    softirq, and in no process: it must not look foreign. Otherwise softirq is counted within
    processes.
    """
    ticks = 0
    names = {f"cpu{core}" for core in cores}
    for line in text.splitlines():
        name, *fields = line.split()
        if name in names:
            user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
            ticks += user + nice + system + steal + (0 if irq else softirq)
    return ticks / _TICKS
