"""Supervision: whether the supervisor of this agent is alive.

An agent goes on when its supervisor has ended. Its status says so, and it writes its messages to a
file, because nobody reads its standard error any more. The next supervisor tells it to stop and to
leave its workers running (stop).
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
    """Watches the channel to the supervisor, which closes when the supervisor ends."""

    def __init__(
        self, channel: socket.socket | None = None, orphaned: Callable[[], None] = lambda: None
    ) -> None:
        """`orphaned` is called when the supervisor ends; without a channel there is none."""
        self._channel = channel
        self._orphaned = orphaned
        self._gone = False

    def notes(self) -> list[str]:
        """The notes for the status of the agent."""
        return [NOTE] if self._gone else []

    def watch(self) -> None:
        """Begin to watch the channel in the running event loop."""
        if self._channel is not None:
            asyncio.get_running_loop().add_reader(self._channel, self._ended, self._channel)

    def _ended(self, channel: socket.socket) -> None:
        """The channel is readable: nothing is ever sent on it, so it has closed."""
        asyncio.get_running_loop().remove_reader(channel)
        channel.close()
        self._gone = True
        self._orphaned()
        log.warning("the supervisor is gone; the agent goes on")
