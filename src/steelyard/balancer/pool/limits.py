"""Limits: the settings that the data thread needs for every request, in plain attributes.

The settings are copied once, because reading an attribute of the settings model costs several times
as much as reading a slot.
"""

from __future__ import annotations

from steelyard.config.settings import Gateway


class Limits:
    """Limits in seconds, bytes and counts; −1 means that there is no limit."""

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
