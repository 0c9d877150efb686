"""Vanished: ends the connections to a worker that vanished without closing them.

When a worker process dies, its kernel closes its connections, and the next read sees the end. A
machine that lost its power or its cable closes no connection: the balancer learns of the loss only
when the queue no longer lists the worker. A connection with bytes to read is left to the loop,
because the bytes may be the worker's last answer.
"""

from __future__ import annotations

from collections.abc import Collection

from steelyard.balancer.exchange.tunnel import Side
from steelyard.balancer.io.loop import Loop
from steelyard.balancer.io.syscalls import is_quiet
from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.worker import Worker


def break_vanished(loop: Loop, ended: Collection[Worker]) -> None:
    """Treat the silent connections to these workers as broken: a request is tried again if it can
    be repeated safely."""
    for handler in loop.handlers():
        stream = handler.stream if isinstance(handler, Side) else handler
        if not isinstance(stream, Upstream) or stream.worker not in ended:
            continue
        if not stream.open or not is_quiet(stream.fd):
            continue
        if isinstance(handler, Side):
            handler.lost()
        elif stream.requester is not None:
            stream.requester.on_worker_gone()
