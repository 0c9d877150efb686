"""The machine: which cores are used for what, and what it is."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Cores(NamedTuple):
    """Where things run."""

    proxy: int  # what is measured, alone
    rest: int  # client, backend and ourselves

    @property
    def apart(self) -> bool:
        return self.proxy != self.rest


def choose_cores() -> Cores:
    """The first two that we may use; one of one."""
    allowed = sorted(os.sched_getaffinity(0))
    return Cores(allowed[0], allowed[1 % len(allowed)])


def count() -> int:
    """Cores of the machine."""
    return os.cpu_count() or 1


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """This process on one core: what watches must not disturb what is watched."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def raise_file_limit() -> int:
    """As many open files as we are allowed; children inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def describe() -> str:
    """Processor, cores, memory, kernel, interpreter: what figures depend on."""
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
