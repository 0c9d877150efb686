"""Processes that are not to outlive whoever started them."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_DEATH_SIGNAL = 1  # linux/prctl.h


def end_with(parent: int, told: int = signal.SIGKILL) -> None:
    """Be told by the kernel when the parent is gone, however it went; when it is already, end."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, told)
    if os.getppid() != parent:  # it went before we could ask
        os._exit(0)
