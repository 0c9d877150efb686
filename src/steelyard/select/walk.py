"""Walk: the slots in turn, for ever. Every pick from a ring is one step of it.

It is written twice, for speed. Here the step is the bound `__next__` of an `itertools.cycle`: one C
call and no Python frame. In `walk.pyx` it is a C method, `step`, that other compiled code calls
without the interpreter (`from steelyard.select.walk cimport Walk`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle
from typing import Any


class Walk:
    """Gives the slots in turn. A step runs no Python code, so under the interpreter lock no two
    threads can take the same slot, and none is skipped.

    >>> walk = Walk("abc")
    >>> "".join(walk.pick() for _ in range(7))
    'abcabca'
    """

    __slots__ = ("pick",)

    pick: Callable[[], Any]

    def __init__(self, slots: Iterable[Any]) -> None:
        self.pick = cycle(slots).__next__
