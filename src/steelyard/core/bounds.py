"""Bounds of the numbers and names that messages between our processes may carry.

A message of the right shape may still carry a number that breaks the arithmetic of its reader: the
square of 1e308 seconds is an OverflowError, and one NaN makes every later score NaN. The bounds lie
far above every honest value (a petabyte each second for a quarter of an hour, a thousand requests
that wait for a million years), and their squares still fit into a float.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

MOST = 10**18  # the largest count of anything, bytes included
LONGEST = 1e15  # seconds
LARGEST_FLEET = 100_000  # workers in one message
LONGEST_NAME = 300  # characters; a host name has 253 at most, and a port may follow

Count = Annotated[int, Field(ge=0, le=MOST)]
Version = Annotated[int, Field(ge=-1, le=MOST)]  # of a queue; -1: there is none yet
Seconds = Annotated[float, Field(ge=0, le=LONGEST, allow_inf_nan=False)]
# Names have no control characters: they are logged, and a newline in one would forge a log line.
Name = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
]
