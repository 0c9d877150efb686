"""Process: runs one balancer process with its data thread, control thread and signals."""

from __future__ import annotations

import gc
import logging
import random
import socket
import sys
from collections.abc import Callable, Iterable, Sequence

from steelyard.balancer.control.access_log_writer import AccessLogWriter
from steelyard.balancer.control.agent_link import AgentSource
from steelyard.balancer.control.control import Control
from steelyard.balancer.downstream.identity import hush
from steelyard.balancer.orphan import Orphan, Will
from steelyard.balancer.plane import Plane
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.signals import Signals
from steelyard.config.settings import Gateway
from steelyard.config.values import WORKER, parse_worker
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue
from steelyard.errors import UsageError

log = logging.getLogger(__name__)

LAST_WORDS = 3.0  # seconds for the last report, and for the access log; the agent may be gone


def run_balancer(
    settings: Gateway,
    fds: Sequence[int],
    balancer_id: str,
    source: AgentSource | Queue,
    begin: Callable[[bool], bool] | None = None,
    will: Will | None = None,
    board: str = "",
) -> None:
    """Serve clients of the listening sockets `fds` until SIGTERM or SIGINT; in the main thread.

    After the first signal, open exchanges have at most `settings.drain` seconds to end; a second
    signal ends them at once. `begin` is called when the balancer is ready, with whether it has a
    queue; if `begin` returns False, the balancer does not serve. With a `will`, the balancer
    outlives its supervisor. With the token of a `board`, it sends its account to the supervisor.
    """
    sockets = [socket.socket(fileno=fd) for fd in fds]
    first, *others = sockets
    plane = Plane(settings, first, Bell())
    for sock in others:
        plane.accept_from(sock)
    Signals(plane)
    if plane.front.identity is not None:
        sys.unraisablehook = hush
    control = Control(plane.front, plane.offer, balancer_id, source, random.Random(), board)
    writer = _access_log(settings, plane)
    knows = control.start()
    gc.freeze()  # the garbage collector need not scan objects that live until the end
    if begin is None or begin(knows):
        if will is not None:
            Orphan(plane, sockets, will)
        log.info("serving")
        plane.run()
    if writer is not None:
        writer.finish(LAST_WORDS)
    control.finish(LAST_WORDS)
    log.info("stopped")


def _access_log(settings: Gateway, plane: Plane) -> AccessLogWriter | None:
    access_log = plane.front.access_log
    if settings.access_log is None or access_log is None:
        return None
    writer = AccessLogWriter(settings.access_log, settings.access_log_format, access_log)
    writer.start()
    return writer


def fixed_queue(workers: Iterable[str]) -> Queue:
    """Return a queue that never changes, from a `HOST:PORT` or `HOST:PORT=WEIGHT` per worker."""
    return Queue(
        application="fixed",
        epoch="fixed",
        version=1,
        workers=tuple(_entry(text) for text in workers),
    )


def _entry(text: str) -> Entry:
    try:
        address, weight = parse_worker(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a worker", hint=WORKER.expects()) from error
    return Entry(
        name=text.partition("=")[0],
        host=address.host,
        port=address.port,
        score=100.0,
        state=State.LU,
        weight=weight,
    )
