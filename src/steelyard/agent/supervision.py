"""Supervision: whether a supervisor looks after this agent.

An agent goes on without its supervisor. It says so in its status, and writes its messages to a
file, since nobody reads its standard error any more. The next supervisor tells it to leave its
workers (stop).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

log = logging.getLogger(__name__)

NOTE = (
    "the supervisor is gone: balancers and agent go on; `steelyard up` takes over, "
    "`steelyard down` stops them"
)


class Supervision:
    """Watches the channel, which ends with the supervisor."""

    def __init__(
        self, channel: socket.socket | None = None, orphaned: Callable[[], None] = lambda: None
    ) -> None:
        """Without a channel there is no supervisor, and nothing to tell."""
        self._channel = channel
        self._orphaned = orphaned
        self._gone = False

    def notes(self) -> list[str]:
        """What people are told."""
        return [NOTE] if self._gone else []

    def watch(self) -> None:
        """From now on, in the running event loop."""
        if self._channel is not None:
            asyncio.get_running_loop().add_reader(self._channel, self._ended, self._channel)

    def _ended(self, channel: socket.socket) -> None:
        """Nothing is said on the channel, so this is its end."""
        asyncio.get_running_loop().remove_reader(channel)
        channel.close()
        self._gone = True
        self._orphaned()
        log.warning("the supervisor is gone; the agent goes on")
