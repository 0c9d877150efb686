"""Tests of the Date field."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

from steelyard.balancer.http.date import Date


def test_the_line_is_of_now() -> None:
    """The Date has the form of RFC 9110, 5.6.7, and the time of the current second."""
    date = Date()
    before = int(time.time()) - 1  # the kernel's coarse clock may be a few milliseconds behind
    line = date.line()
    after = time.time()
    assert line.startswith(b"\r\nDate: ")
    assert line.endswith(b" GMT")
    assert before <= parsedate_to_datetime(line[8:].decode()).timestamp() <= after


def test_the_line_is_written_once_a_second() -> None:
    """Two calls within a second give the same object, and a later second gives another line."""
    date = Date()
    while True:
        second = int(time.time())
        one, other = date.line(), date.line()
        if int(time.time()) == second and time.time() % 1 > 0.05:
            break
    assert one is other
    while int(time.time()) == second or time.time() % 1 < 0.05:
        time.sleep(0.01)
    assert date.line() != one
