"""Date: the field that tells when an answer was made (RFC 9110, 6.6.1).

The field's text changes once a second, so it is formatted at most once a second.
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
        """Return the field's line, after a CRLF."""
        second = wall_second()
        if second != self._second:
            self._second = second
            self._line = b"\r\nDate: " + formatdate(second, usegmt=True).encode()
        return self._line
