"""The hub: the links to all balancers. Queues go out, reports come in.

Every balancer gets the newest queue. A slow balancer misses some queues in between; this does not
matter, because each queue is complete.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from steelyard.core.events import BalancerJoined, BalancerLost, Event, QueueRefused, Reported
from steelyard.core.queue import OTHER_APPLICATION, Queue
from steelyard.core.report import Report, parse_report
from steelyard.errors import MalformedError

log = logging.getLogger(__name__)

POLICY_VIOLATION = 1008


class Hub:
    """The links to all balancers."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._queue: Queue | None = None
        self._fresh: dict[WebSocket, asyncio.Event] = {}
        self._names: dict[WebSocket, str] = {}  # a balancer may have an old link besides a new one

    def publish(self, queue: Queue) -> None:
        """Let the tasks of all links send this queue."""
        self._queue = queue
        for fresh in self._fresh.values():
            fresh.set()

    async def serve(self, socket: WebSocket, balancer: str) -> None:
        """Keep one link until it breaks."""
        self._fresh[socket] = asyncio.Event()
        self._fresh[socket].set()
        self._names[socket] = balancer
        self._tell(BalancerJoined(balancer))
        log.info("balancer %s connected", balancer)
        sender = asyncio.create_task(self._send(socket))
        try:
            await self._receive(socket, balancer)
        finally:
            sender.cancel()
            self._close(socket, balancer)

    async def _send(self, socket: WebSocket) -> None:
        fresh = self._fresh[socket]
        # `_receive` notices the end of the link, too, and handles it.
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await fresh.wait()
                fresh.clear()
                if self._queue is not None:
                    await socket.send_text(self._queue.model_dump_json())

    async def _receive(self, socket: WebSocket, balancer: str) -> None:
        try:
            while True:
                self._tell(Reported(_read(await socket.receive(), balancer)))
        except MalformedError as error:
            log.warning("%s", error.message)
            with suppress(WebSocketDisconnect):
                await socket.close(POLICY_VIOLATION, error.message[:120])
        except WebSocketDisconnect as end:
            if end.code == OTHER_APPLICATION:
                self._tell(QueueRefused(balancer, end.reason))

    def _close(self, socket: WebSocket, balancer: str) -> None:
        """Forget a link; a balancer is lost when its last link is gone, be that the old one."""
        del self._fresh[socket], self._names[socket]
        if balancer not in self._names.values():
            self._tell(BalancerLost(balancer))
            log.info("balancer %s disconnected", balancer)


def _read(message: Message, balancer: str) -> Report:
    """The report in a message, which must have the name of the balancer that this link belongs to.

    Under another name its exchanges would count for ever, as no link with that name ever ends.
    """
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"], message.get("reason"))
    report = parse_report(message.get("text") or message.get("bytes") or "")
    if report.balancer != balancer:
        raise MalformedError(f"malformed report: balancer: this link belongs to {balancer}")
    return report
