"""Vanished: ends the connections to a worker that ended without closing them.

The kernel closes the connections of a worker that dies, and the next read tells. A machine that
lost its power or its cable closes none: only the queue tells, by naming the worker no longer. A
connection with something to read is left to the loop: the worker's last answer may be in it.
"""

from __future__ import annotations

from collections.abc import Collection

from steelyard.balancer.exchange.tunnel import Side
from steelyard.balancer.io.loop import Loop
from steelyard.balancer.io.syscalls import is_quiet
from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.worker import Worker


def break_vanished(loop: Loop, ended: Collection[Worker]) -> None:
    """Treat the silent connections to these workers as broken: requests are tried again where that
    is safe."""
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
