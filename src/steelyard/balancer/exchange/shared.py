"""Shared: the objects that all exchanges of a process share."""

from __future__ import annotations

from steelyard.balancer.exchange.access_log import AccessLog
from steelyard.balancer.http.date import Date
from steelyard.balancer.http.grammar import Reader
from steelyard.balancer.pool.attempts import Attempts
from steelyard.balancer.pool.pool import Pool
from steelyard.config.settings import Gateway


class Shared:
    """The pool, the settings, the parser of heads, the Date field and the access log."""

    __slots__ = (
        "access_log",
        "attempts",
        "date",
        "draining",
        "limits",
        "loop",
        "pool",
        "reader",
        "tunnel_idle",
    )

    def __init__(self, settings: Gateway, pool: Pool) -> None:
        self.pool = pool
        self.attempts = Attempts(pool)
        self.loop = pool.loop
        self.limits = pool.limits
        self.reader = Reader(settings.head, settings.fields)
        self.date = Date()
        self.access_log = None if settings.access_log is None else AccessLog()
        self.tunnel_idle = settings.tunnel_idle
        self.draining = False  # the balancer is stopping: each answer ends its connection
