"""One balancer process: data thread, control thread, signals."""

from __future__ import annotations

import gc
import logging
import random
import socket
from collections.abc import Iterable
from math import inf

from steelyard.balancer.access_log import AccessLog
from steelyard.balancer.control import Control
from steelyard.balancer.counters import Bell
from steelyard.balancer.feed import AgentSource
from steelyard.balancer.plane import Plane
from steelyard.balancer.signals import Signals
from steelyard.config.settings import Gateway
from steelyard.config.values import parse_address
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue
from steelyard.errors import UsageError

log = logging.getLogger(__name__)

FAREWELL = 3.0  # for the last report; the agent may be gone


def run_balancer(settings: Gateway, fd: int, balancer_id: str, source: AgentSource | Queue) -> None:
    """Serve clients of the listening socket `fd` until SIGTERM or SIGINT; call in the main thread.

    The first signal lets open exchanges end, for at most `settings.drain`; a second one does not.
    """
    plane = Plane(settings, socket.socket(fileno=fd), Bell())
    Signals(plane)
    control = Control(plane, balancer_id, source, random.Random())
    writer = _access_log(settings, plane)
    control.start()
    gc.freeze()  # what lives until the end need not be looked through again and again
    log.info("serving")
    plane.run()
    if writer is not None:
        writer.finish(FAREWELL)
    control.finish(FAREWELL)
    log.info("stopped")


def _access_log(settings: Gateway, plane: Plane) -> AccessLog | None:
    if settings.access_log is None or plane.journal is None:
        return None
    writer = AccessLog(settings.access_log, settings.access_log_format, plane.journal)
    writer.start()
    return writer


def fixed_queue(workers: Iterable[str]) -> Queue:
    """A queue that never changes, from `HOST:PORT` or `HOST:PORT=WEIGHT` each."""
    return Queue(
        application="fixed",
        epoch="fixed",
        version=1,
        workers=tuple(_entry(text) for text in workers),
    )


def _entry(text: str) -> Entry:
    place, _, weight = text.partition("=")
    try:
        address = parse_address(place)
        return Entry(
            name=place,
            host=address.host,
            port=address.port,
            score=100.0,
            state=State.LU,
            weight=_positive(weight or "1"),
        )
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a worker",
            hint="HOST:PORT or HOST:PORT=WEIGHT, for instance 127.0.0.1:9000=2",
        ) from error


def _positive(text: str) -> float:
    weight = float(text)
    if not 0 < weight < inf:
        raise ValueError("a weight above 0")
    return weight
