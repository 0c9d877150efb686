"""Zenoh's threads: few of them, and known to Python.

By default Zenoh makes seven threads and passes a message through three or four; both reading
threads wake up for each message. We leave three: one that reads and calls us, one that writes, and
one for the rest. Only the first calls us, so a callback may wait until the others have written
something.

For each call from a thread that is not its own, Python makes a thread state and destroys it
afterwards: memory is mapped and unmapped, which interrupts every core of the process. `stay` keeps
that state.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SETTING = "ZENOH_RUNTIME"  # an environment variable: Zenoh has no other way to set this
FEW = "(rx: (worker_threads: 1), acc: (handover: net), app: (handover: net))"

_known = threading.local()  # the value lives as long as the Python state of its thread


@contextmanager
def few_threads() -> Iterator[None]:
    """Open the first session of a process within this context: that is when Zenoh makes its
    threads.
    """
    if SETTING in os.environ:
        yield
        return
    os.environ[SETTING] = FEW
    try:
        yield
    finally:
        os.environ.pop(SETTING, None)


def stay() -> None:
    """Keep the Python state of this thread for the next callback. Call this within a callback."""
    if not hasattr(_known, "stays"):
        _known.stays = True
        ctypes.pythonapi.PyGILState_Ensure()  # one more than will be released
