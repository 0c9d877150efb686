"""Hangup: what a SIGHUP means.

To a service, SIGHUP is the request to reload. But a terminal that is closed sends it, too, to the
processes in its foreground, and these should end unless they were started with `nohup`. The
difference can be seen: after the second kind the terminal that was there at the start is gone.
"""

from __future__ import annotations

import os
import signal

TERMINAL = "/dev/tty"  # the terminal that controls this process, if there is one


class Hangup:
    """Tells the two kinds of SIGHUP apart; it must be made before a handler is set."""

    def __init__(self) -> None:
        meant_to_outlive = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        self._watched = has_terminal() and not meant_to_outlive

    def is_end(self) -> bool:
        """Whether the SIGHUP that has just come is that of a closed terminal."""
        return self._watched and not has_terminal()


def has_terminal() -> bool:
    """Whether a terminal controls this process."""
    try:
        os.close(os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
