"""Date: the field that says when an answer was given (RFC 9110, 6.6.1).

Its text changes once a second, so it is written once a second, however many answers need it.
"""

from __future__ import annotations

from email.utils import formatdate

from steelyard.balancer.io.syscalls import wall_second


class Date:
    """The Date field of the present second."""

    __slots__ = ("_line", "_second")

    def __init__(self) -> None:
        self._second = -1
        self._line = b""

    def line(self) -> bytes:
        """The field's line, after a CRLF."""
        second = wall_second()
        if second != self._second:
            self._second = second
            self._line = b"\r\nDate: " + formatdate(second, usegmt=True).encode()
        return self._line
