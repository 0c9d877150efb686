from __future__ import annotations

from steelyard.mesh.protocol.times import WINDOW, Times


def test_what_was_long_ago_does_not_count() -> None:
    """Only recent units count, as a function may become slower, and quicker again."""
    times = Times()
    for seconds in (1.0, 5.0, 2.0):
        for _ in range(WINDOW):
            times.add(seconds)
        assert (times.median, len(times)) == (seconds, WINDOW)
