"""Dismissal: sends a Close frame on the tunnels that will be cut soon, if they carry a WebSocket
(`Tunnel.dismiss`)."""

from __future__ import annotations

import logging
from collections.abc import Collection

from steelyard.balancer.exchange.tunnel import Side
from steelyard.balancer.io.loop import Loop
from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.worker import Worker

log = logging.getLogger(__name__)

NOTICE = 5.0  # seconds from the dismissal of tunnels to the balancer's end


def dismiss(loop: Loop, workers: Collection[Worker] | None = None) -> None:
    """Dismiss all WebSockets, or only the WebSockets with these workers, each of them once."""
    count = 0
    for handler in loop.handlers():
        if isinstance(handler, Side) and isinstance(handler.stream, Upstream):
            wanted = workers is None or handler.stream.worker in workers
            count += wanted and handler.dismiss()
    if count:
        log.info("%d WebSockets are told that their end is near", count)
