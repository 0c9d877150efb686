"""Notify: tells systemd (`Type=notify`, `Type=notify-reload`) how far we are; sd_notify(3).

Without NOTIFY_SOCKET nobody has asked. The variable is taken out of the environment: what we start
has its own way of telling us.
"""

from __future__ import annotations

import socket
import time
from collections.abc import MutableMapping
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"


class Notify:
    """Datagrams to the service manager, if there is one; one that is gone is no trouble of ours."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        path = environ.pop(VARIABLE, "")
        self._address = f"\0{path[1:]}" if path.startswith("@") else path

    def ready(self) -> None:
        """Serving, from the start or after a reload, whether that changed anything or not."""
        self._send("READY=1")

    def reloading(self) -> None:
        """The time lets systemd tell this reload from one that it asked for later."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now}")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def _send(self, text: str) -> None:
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(text.encode(), self._address)
