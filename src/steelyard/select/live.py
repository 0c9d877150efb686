"""Live: a selector whose members and weights may be changed while other threads pick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Made(Protocol):
    """A selector of any policy; the arguments of its `pick` depend on the policy."""

    @property
    def pick(self) -> Callable[..., Any]: ...


# A policy's class, or a function that returns a selector.
Make = Callable[[Sequence[T], Sequence[float]], Made]


class Live(Generic[T]):
    """Picks by the policy's latest selector; `update` makes the next one and exchanges them.

    A pick costs nothing extra: `live.pick` is the selector's own method. The thread that calls
    `update` does all its work before the exchange. Other threads pick by the old weights until then
    and by the new ones from then on, never by a mix. Impossible members and weights raise an error,
    and change nothing. Look `live.pick` up for every pick: a stored one belongs to the old
    selector.

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
        """Pick among these members from now on."""
        self.pick = self._make(members, weights).pick  # one assignment: no thread sees half of it
