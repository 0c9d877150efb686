"""Notify: tells systemd (`Type=notify`, `Type=notify-reload`) about our state; sd_notify(3).

Without NOTIFY_SOCKET no service manager has asked for it. The variable is removed from the
environment, because only the supervisor may notify systemd, not its children.
"""

from __future__ import annotations

import socket
import time
from collections.abc import MutableMapping
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"


class Notify:
    """Sends datagrams to the service manager, if there is one; errors in sending are ignored."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        path = environ.pop(VARIABLE, "")
        self._address = f"\0{path[1:]}" if path.startswith("@") else path

    def ready(self) -> None:
        """The gateway serves: after its start, or after a reload, whether that succeeded or not."""
        self._send("READY=1")

    def reloading(self) -> None:
        """A reload begins; by its time systemd tells it from a reload that it asks for later."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now}")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def _send(self, text: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(text.encode(), self._address)
