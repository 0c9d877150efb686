"""How much memory a unit may add to what its child has.

The kernel's limit on data (RLIMIT_DATA: heap, private writable mappings, stacks of threads) makes
the allocation fail that goes beyond, and Python raises MemoryError: exact, and in the unit only.
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
    """Within, this process gets at most so many more bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    now = int(_STATM.read_bytes().split()[5]) * _PAGE  # data and stack
    resource.setrlimit(resource.RLIMIT_DATA, (now + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
