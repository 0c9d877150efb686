"""Zenoh's threads: few of them, and known to Python.

It makes seven, and passes a message through three or four; of the two that read, both wake up for
each. Three are left: one that reads and calls us, one that writes, and one for the rest. Only the
first calls us, so it may wait until the others have written something.

Python makes a state for each call from a thread that is not its own, and destroys it after: memory
is mapped and unmapped, which interrupts every core of the process. `stay` keeps it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SETTING = "ZENOH_RUNTIME"  # Zenoh has no other way to be told
FEW = "(rx: (worker_threads: 1), acc: (handover: net), app: (handover: net))"

_known = threading.local()  # lives as long as the state of its thread


@contextmanager
def few_threads() -> Iterator[None]:
    """Within, the first session of a process is opened: that is when Zenoh makes its threads."""
    if SETTING in os.environ:
        yield
        return
    os.environ[SETTING] = FEW
    try:
        yield
    finally:
        os.environ.pop(SETTING, None)


def stay() -> None:
    """In a callback: keep the state of this thread for the next one."""
    if not hasattr(_known, "stays"):
        _known.stays = True
        ctypes.pythonapi.PyGILState_Ensure()  # one more than will be released
