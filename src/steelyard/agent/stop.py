"""Stop: what the signals ask for.

TERM and INT stop the agent; `agent.on_stop` decides whether its workers are stopped, too. A second
signal kills them. HUP says that another agent is about to take over (the next supervisor sends it),
or that the terminal was closed: then `runtime.leftovers` decides whether the workers are left for
the next agent or stopped.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from steelyard.config.settings import Settings

log = logging.getLogger(__name__)


class Stop:
    """Whether a stop was asked for, and whether it includes the workers."""

    def __init__(self, settings: Settings, *, asked: bool) -> None:
        self.asked = asyncio.Event()
        if asked:
            self.asked.set()
        self.workers_too = settings.agent.on_stop == "stop"
        self.insist: Callable[[], None] = lambda: None  # called by a second signal
        self._leftovers = settings.runtime.leftovers
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.add_signal_handler(signal.SIGINT, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._hung_up)

    def _stop(self) -> None:
        if self.asked.is_set():
            self.insist()
        self.asked.set()

    def _hung_up(self) -> None:
        self.workers_too = self._leftovers == "reap"
        fate = "stopped" if self.workers_too else "left running"
        log.warning("the terminal was closed or another agent takes over; workers are %s", fate)
        self.asked.set()
