"""Limits: what the data thread asks of the settings for every request, in plain attributes.

Settings are read once; a model's attribute costs several times a slot's.
"""

from __future__ import annotations

from steelyard.config.settings import Gateway


class Limits:
    """Seconds, bytes and counts; none is −1."""

    __slots__ = (
        "answer_timeout",
        "body",
        "body_timeout",
        "connect_timeout",
        "head_timeout",
        "idle_timeout",
        "retries",
        "upstream_idle",
    )

    def __init__(self, gateway: Gateway) -> None:
        self.answer_timeout = gateway.answer_timeout
        self.body = -1 if gateway.body is None else gateway.body
        self.body_timeout = gateway.body_timeout
        self.connect_timeout = gateway.connect_timeout
        self.head_timeout = gateway.head_timeout
        self.idle_timeout = gateway.idle_timeout
        self.retries = gateway.retries
        self.upstream_idle = gateway.upstream_idle
