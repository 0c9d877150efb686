"""Picks from compiled code: what `steelyard.select.walk` says a caller in C should do.

There is no Python of it. The loop is counted with the pick; it holds nothing that a compiler could
leave out, as `step` is called through a table.
"""

from steelyard.select.walk cimport Walk


def strides(Walk walk, long long count):
    """So many steps."""
    cdef long long number
    for number in range(count):
        walk.step()
