"""Live: a selector whose members and weights may be changed while other threads pick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Made(Protocol):
    """A selector of any policy; what its `pick` takes is the policy's business."""

    @property
    def pick(self) -> Callable[..., Any]: ...


# How a selector is made: any policy, or a function that adds what it wants to one.
Make = Callable[[Sequence[T], Sequence[float]], Made]


class Live(Generic[T]):
    """Picks by the policy's latest selector; `update` makes the next one and exchanges them.

    A pick costs what it costs there: it is the selector's own. The work of an update is done by who
    updates, before the exchange; threads that pick go by the old weights until then and by the new
    ones from then on, never by half of both. Members and weights that cannot be are refused, and
    change nothing. Ask for `live.pick` with every pick: one that was kept is the old selector's.

    >>> from steelyard.select import WeightedRing
    >>> live = Live(WeightedRing, ["a", "b"], [1, 1])
    >>> live.update(["b", "c"], [0, 1])
    >>> live.pick()
    'c'
    """

    __slots__ = ("_make", "pick")

    pick: Callable[..., T]

    def __init__(self, make: Make[T], members: Sequence[T], weights: Sequence[float]) -> None:
        self._make = make
        self.update(members, weights)

    def update(self, members: Sequence[T], weights: Sequence[float]) -> None:
        """Pick among these from now on."""
        self.pick = self._make(members, weights).pick  # one store: whole for every thread
