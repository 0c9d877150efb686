"""The hub: the balancers' links. Queues go out, reports come in.

Every balancer gets the newest queue; one that is slow misses those in between, which does not
matter, as each is whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from steelyard.core.events import BalancerJoined, BalancerLost, Event, Reported
from steelyard.core.queue import Queue
from steelyard.core.report import parse_report
from steelyard.errors import MalformedError

log = logging.getLogger(__name__)

POLICY_VIOLATION = 1008


class Hub:
    """All links."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._queue: Queue | None = None
        self._fresh: dict[WebSocket, asyncio.Event] = {}
        self._owner: dict[str, WebSocket] = {}  # the newest link of each balancer

    def publish(self, queue: Queue) -> None:
        """Send this queue to everybody, soon."""
        self._queue = queue
        for fresh in self._fresh.values():
            fresh.set()

    async def serve(self, socket: WebSocket, balancer: str) -> None:
        """Keep one link until it breaks."""
        self._fresh[socket] = asyncio.Event()
        self._fresh[socket].set()
        self._owner[balancer] = socket
        self._tell(BalancerJoined(balancer))
        log.info("balancer %s connected", balancer)
        sender = asyncio.create_task(self._send(socket))
        try:
            await self._receive(socket)
        finally:
            sender.cancel()
            self._close(socket, balancer)

    async def _send(self, socket: WebSocket) -> None:
        fresh = self._fresh[socket]
        with suppress(WebSocketDisconnect, RuntimeError):  # the receiver sees the end, too
            while True:
                await fresh.wait()
                fresh.clear()
                if self._queue is not None:
                    await socket.send_text(self._queue.model_dump_json())

    async def _receive(self, socket: WebSocket) -> None:
        with suppress(WebSocketDisconnect):
            while True:
                text = await socket.receive_text()
                try:
                    self._tell(Reported(parse_report(text)))
                except MalformedError as error:
                    log.warning("%s", error.message)
                    await socket.close(POLICY_VIOLATION, error.message[:120])
                    return

    def _close(self, socket: WebSocket, balancer: str) -> None:
        del self._fresh[socket]
        if self._owner.get(balancer) is socket:
            del self._owner[balancer]
            self._tell(BalancerLost(balancer))
            log.info("balancer %s disconnected", balancer)
