"""Hangup: what a SIGHUP means.

To a service it is the order to reload. But a terminal that is closed sends it, too, to what ran
in its foreground, and that had better end, unless it was started with `nohup`. The difference can
be seen: afterwards the terminal that was there at the start is gone.
"""

from __future__ import annotations

import os
import signal

TERMINAL = "/dev/tty"  # whichever controls this process


class Hangup:
    """Made before a handler is set."""

    def __init__(self) -> None:
        meant_to_outlive = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        self._watched = has_terminal() and not meant_to_outlive

    def is_end(self) -> bool:
        """Whether the SIGHUP that has come is that of a closed terminal."""
        return self._watched and not has_terminal()


def has_terminal() -> bool:
    """Whether a terminal controls this process."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
