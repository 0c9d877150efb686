"""Whom a node knows, and whom it should be linked to but is not. Pure: no clock, no network.

A transport links nodes that hear of each other when they join, and forgets a link that is cut. So
each node remembers who was there and did not say good-bye, and tries them again; and it compares
with a neighbour, each second another one, whom they see: one link across a cut is enough for all
others to be found missing, and made.

On a machine that is too busy links break for want of a word in time, and making them anew is more
work: so of two that lost each other one tries first, who is lost again soon is given more time, and
whom only others see is left to the transport for a moment: it may be at it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 1.0  # seconds between tries for one node
SECOND = 0.5  # seconds that the second of two who lost each other waits longer
GRACE = 1.0  # seconds in which the transport may link us to whom a neighbour sees
STEADY = 30.0  # seconds that a link must have held, or its node is given more time
MOST_DOUBLINGS = 3  # of that time
MOST = 8  # nodes that are tried at a time
FORGET = 600.0  # seconds after which a lost node is not tried any more
REMEMBERED = 1000  # nodes that said good-bye: a neighbour may not have heard it yet

Locators = tuple[str, ...]


@dataclass(slots=True)
class Missing:
    """A node that should be linked and is not."""

    identity: str
    locators: Locators
    since: float
    due: float
    heard: bool = False  # of it only, from neighbours: there was no link yet
    pause: float = FIRST_PAUSE
    cut: float = -inf  # when its link was last cut, as it brought nothing
    cuts: int = 0


class Acquaintances:
    """The nodes that one node knows of."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._linked: dict[str, Locators] = {}
        self._missing: dict[str, Missing] = {}
        self._left: dict[str, None] = {}  # in the order in which they did
        self._since: dict[str, float] = {}  # when links were made
        self._doublings: dict[str, int] = {}  # for links that did not hold
        self._changed = float("-inf")  # when somebody came or went

    @property
    def linked(self) -> Mapping[str, Locators]:
        """Those there is a link to."""
        return self._linked

    @property
    def missing(self) -> Sequence[str]:
        """Those there should be."""
        return list(self._missing)

    def appear(self, identity: str, locators: Locators, now: float) -> None:
        """There is a link. Who else listened at the same places has died: this is its successor.

        At all of them: nodes that listen everywhere have loopback in common, on any machine.
        """
        self._linked[identity] = locators
        self._since[identity] = self._changed = now
        self._missing.pop(identity, None)
        for one in self._missing.values():
            if one.heard:  # links are being made: leave it a moment longer
                one.due = max(one.due, now + GRACE)
        for other in [one for one in self._missing.values() if set(one.locators) == set(locators)]:
            self._leave(other.identity)

    def vanish(self, identity: str, now: float) -> None:
        """The link is gone."""
        locators = self._linked.pop(identity, None)
        self._changed = now
        held = now - self._since.pop(identity, now)
        if locators and identity not in self._left:
            pause = self._first_pause(identity, held)
            self._missing[identity] = Missing(identity, locators, now, now + pause)

    def _first_pause(self, identity: str, held: float) -> float:
        doublings = 0 if held > STEADY else self._doublings.get(identity, -1) + 1
        self._doublings[identity] = min(doublings, MOST_DOUBLINGS)
        pause = FIRST_PAUSE if self._identity < identity else FIRST_PAUSE + SECOND
        return float(pause * 2 ** self._doublings[identity])

    def leave(self, identity: str) -> None:
        """It said good-bye; the link goes next."""
        self._leave(identity)

    def hear(self, identity: str, locators: Locators, now: float) -> None:
        """A neighbour has a link to this one."""
        known = identity in self._linked or identity in self._missing or identity in self._left
        if not known and identity != self._identity and locators:
            self._missing[identity] = Missing(identity, locators, now, now + GRACE, heard=True)

    def due(self, now: float) -> list[Missing]:
        """Whom to try now; each is tried again after a pause."""
        for one in [one for one in self._missing.values() if now - one.since > FORGET]:
            del self._missing[one.identity]
            self._doublings.pop(one.identity, None)
        ready = sorted(
            (one for one in self._missing.values() if one.due <= now), key=lambda one: one.due
        )[:MOST]
        for one in ready:
            one.due = now + one.pause
            one.pause = min(LONGEST_PAUSE, 1.5 * one.pause)
        return ready

    def next_due(self) -> float | None:
        """When somebody is to be tried next."""
        return min((one.due for one in self._missing.values()), default=None)

    def settled(self, now: float) -> bool:
        """Whether nobody has come or gone for a while: only then is who is not here missing."""
        return now - self._changed > GRACE

    def digest(self) -> bytes:
        """The same for all who see the same nodes, themselves included."""
        seen = sorted([*self._linked, self._identity])
        return hashlib.blake2b(" ".join(seen).encode(), digest_size=16).digest()

    def _leave(self, identity: str) -> None:
        self._missing.pop(identity, None)
        self._doublings.pop(identity, None)
        self._left[identity] = None
        while len(self._left) > REMEMBERED:
            del self._left[next(iter(self._left))]
