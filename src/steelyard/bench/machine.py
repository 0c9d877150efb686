"""The machine: its description, and which core is used for what."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Cores(NamedTuple):
    """The cores that are used."""

    proxy: int  # for the proxy that is measured, alone
    rest: int  # for client, backend and ourselves

    @property
    def apart(self) -> bool:
        return self.proxy != self.rest


def choose_cores() -> Cores:
    """The first two cores that we may use; if there is only one, it serves for both."""
    allowed = sorted(os.sched_getaffinity(0))
    return Cores(allowed[0], allowed[1 % len(allowed)])


def count() -> int:
    """The number of cores of the machine."""
    return os.cpu_count() or 1


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Keep this process on one core: the observer must not disturb the measurement."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def raise_file_limit() -> int:
    """Allow as many open files as possible; children inherit the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def describe() -> str:
    """Processor, cores, memory, kernel and interpreter, on which figures depend."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {count()} cores, {gigabytes:.0f} GiB, "
        f"Linux {platform.release().partition('-')[0]}, Python {platform.python_version()}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
