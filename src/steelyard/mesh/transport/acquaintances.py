"""Which nodes a node knows, and which of them it should be linked to but is not. Pure: no clock, no
network.

A transport links nodes that hear of each other when they join, and forgets a link that is cut. So
each node remembers the nodes that went without a good-bye, and tries them again. Each second it
also compares its links with those of another neighbour: one link across a healed cut is enough for
all other missing links to be noticed, and made.

On a machine that is too busy, links break because no message comes in time, and making them anew is
more work. So of two nodes that lost each other, one tries first. A node that is lost again soon is
given more time. A node that only a neighbour sees is left to the transport for a moment, which may
be about to link it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 1.0  # seconds between tries for one node
SECOND = 0.5  # seconds that the second of two nodes that lost each other waits longer
GRACE = 1.0  # seconds in which the transport may link us to a node that a neighbour sees
STEADY = 30.0  # seconds; a node whose link did not hold for so long is given more time
MOST_DOUBLINGS = 3  # of the first pause, for a node whose links do not hold
MOST = 8  # nodes that are tried at a time
FORGET = 600.0  # seconds after which a lost node is no longer tried
REMEMBERED = 1000  # nodes that said good-bye, as a neighbour may not have heard it yet

Locators = tuple[str, ...]


@dataclass(slots=True)
class Missing:
    """A node that should be linked and is not."""

    identity: str
    locators: Locators
    since: float
    due: float
    heard: bool = False  # known from neighbours only: there was no link yet
    pause: float = FIRST_PAUSE
    cut: float = -inf  # when its link was last cut because it brought nothing
    cuts: int = 0


class Acquaintances:
    """The nodes that one node knows of."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._linked: dict[str, Locators] = {}
        self._missing: dict[str, Missing] = {}
        self._left: dict[str, None] = {}  # nodes that said good-bye, in that order
        self._since: dict[str, float] = {}  # when links were made
        self._doublings: dict[str, int] = {}  # of the first pause, by node
        self._changed = float("-inf")  # when a link came or went

    @property
    def linked(self) -> Mapping[str, Locators]:
        """The nodes that there is a link to."""
        return self._linked

    @property
    def missing(self) -> Sequence[str]:
        """The nodes that there should be a link to."""
        return list(self._missing)

    def appear(self, identity: str, locators: Locators, now: float) -> None:
        """Note a new link. A missing node with the same locators has died: the new node is its
        successor.

        All locators must be the same: nodes that listen on every address have loopback in common,
        on any machine.
        """
        self._linked[identity] = locators
        self._since[identity] = self._changed = now
        self._missing.pop(identity, None)
        for one in self._missing.values():
            if one.heard:  # links are being made: wait a moment longer
                one.due = max(one.due, now + GRACE)
        for other in [one for one in self._missing.values() if set(one.locators) == set(locators)]:
            self._leave(other.identity)

    def vanish(self, identity: str, now: float) -> None:
        """Note that a link is gone."""
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
        """Note that a node said good-bye; its link goes next."""
        self._leave(identity)

    def hear(self, identity: str, locators: Locators, now: float) -> None:
        """Note that a neighbour has a link to this node."""
        known = identity in self._linked or identity in self._missing or identity in self._left
        if not known and identity != self._identity and locators:
            self._missing[identity] = Missing(identity, locators, now, now + GRACE, heard=True)

    def due(self, now: float) -> list[Missing]:
        """The nodes to try now; each is tried again after a pause."""
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
        """When a missing node is to be tried next."""
        return min((one.due for one in self._missing.values()), default=None)

    def settled(self, now: float) -> bool:
        """Whether no link came or went for a while. Only then does a node without a link count as
        missing.
        """
        return now - self._changed > GRACE

    def digest(self) -> bytes:
        """A hash of the nodes that this one sees, itself included: equal for nodes that see the
        same.
        """
        seen = sorted([*self._linked, self._identity])
        return hashlib.blake2b(" ".join(seen).encode(), digest_size=16).digest()

    def _leave(self, identity: str) -> None:
        self._missing.pop(identity, None)
        self._doublings.pop(identity, None)
        self._left[identity] = None
        while len(self._left) > REMEMBERED:
            del self._left[next(iter(self._left))]
