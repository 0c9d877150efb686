"""The hub: the balancers' links. Queues go out, reports come in.

Every balancer gets the newest queue; one that is slow misses those in between, which does not
matter, as each is whole.
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
    """All links."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._queue: Queue | None = None
        self._fresh: dict[WebSocket, asyncio.Event] = {}
        self._names: dict[WebSocket, str] = {}  # a balancer may have an old link beside its new one

    def publish(self, queue: Queue) -> None:
        """Send this queue to everybody, soon."""
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
        with suppress(WebSocketDisconnect, RuntimeError):  # the receiver sees the end, too
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
        """A balancer is lost with the last of its links, whichever of them that is."""
        del self._fresh[socket], self._names[socket]
        if balancer not in self._names.values():
            self._tell(BalancerLost(balancer))
            log.info("balancer %s disconnected", balancer)


def _read(message: Message, balancer: str) -> Report:
    """The report in a message; under another name its exchanges would never be let go of."""
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"], message.get("reason"))
    report = parse_report(message.get("text") or message.get("bytes") or "")
    if report.balancer != balancer:
        raise MalformedError(f"malformed report: balancer: not {balancer}, whose link this is")
    return report
