"""Limits the memory that a unit may add to that of its child.

The kernel's limit on data (RLIMIT_DATA: heap, private writable mappings, stacks of threads) makes
the first allocation beyond it fail, and Python raises MemoryError: exactly then, and only in the
unit.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")


@contextmanager
def allowance(more: int) -> Iterator[None]:
    """Let this process allocate at most `more` bytes inside the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    now = int(_STATM.read_bytes().split()[5]) * _PAGE  # size of data and stack
    resource.setrlimit(resource.RLIMIT_DATA, (now + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
