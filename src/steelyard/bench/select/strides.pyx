"""Picks from compiled code, as `steelyard.select.walk` recommends to callers in C.

There is no Python version. The time of the loop counts as part of the pick. No compiler can leave
the loop out, as `step` is called through a table.
"""

from steelyard.select.walk cimport Walk


def strides(Walk walk, long long count):
    """Do so many steps."""
    cdef long long number
    for number in range(count):
        walk.step()
