"""Lets a process end when its parent ends."""

from __future__ import annotations

import ctypes
import os
import signal

_SET_DEATH_SIGNAL = 1  # linux/prctl.h


def end_with(parent: int, told: int = signal.SIGKILL) -> None:
    """Ask the kernel for the signal `told` when the parent ends; exit if it has ended already."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, told)
    if os.getppid() != parent:  # the parent ended before the prctl
        os._exit(0)
