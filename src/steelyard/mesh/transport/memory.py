"""Links in one process, for tests: a network that loses, delays, duplicates and cuts when told to.

One thread delivers everything, in the order it was sent unless delays say otherwise. With `loss`, a
query or an answer may be lost, and its asker hears of a failure, as if the connection had broken.
With `duplication`, a query may arrive twice. No real transport does that: code that copes with it
copes with any transport.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from steelyard.mesh.transport.base import (
    OnFailure,
    OnPeer,
    OnQuery,
    OnReply,
    OnTrouble,
    Peer,
    Query,
)

log = logging.getLogger(__name__)


class Network:
    """The network that memory links are on. Its faults may be changed at any time."""

    def __init__(self, seed: int = 0) -> None:
        self.loss = 0.0  # probability, for each query and each answer
        self.duplication = 0.0  # probability, for each query
        self.delay = (0.0, 0.0)  # seconds, least and most, for each message
        self._random = random.Random(seed)
        self._names = itertools.count(1)
        self._cuts: set[frozenset[str]] = set()
        self._links: dict[str, MemoryLink] = {}
        self._asks: set[_Ask] = set()
        self._post = _Post()

    def link(self) -> MemoryLink:
        """Make a new link."""
        link = MemoryLink(self, f"m{next(self._names)}")
        self._links[link.identity] = link
        return link

    def cut(self, one: str, other: str) -> None:
        """Cut the connection between these two links; queries that are open between them fail."""
        self._cuts.add(frozenset((one, other)))
        self._fail_cut()
        self._post.put(0.0, self._refresh)

    def heal(self) -> None:
        """Undo all cuts: every link can reach every other again."""
        self._cuts.clear()
        self._post.put(0.0, self._refresh)

    def kill(self, identity: str) -> None:
        """Let the process of a link die without a word."""
        self._links.pop(identity).dead = True
        self._fail_cut()
        self._post.put(0.0, self._refresh)

    def close(self) -> None:
        """Deliver nothing any more."""
        self._post.close()

    def reaches(self, one: str, other: str) -> bool:
        """Whether both links live and no cut is between them."""
        both = one in self._links and other in self._links
        return both and frozenset((one, other)) not in self._cuts

    def others(self, identity: str) -> list[str]:
        """The links that this link can reach."""
        return [
            other for other in self._links if self.reaches(identity, other) and other != identity
        ]

    def ask(self, ask: _Ask) -> None:
        """Deliver a query, or lose it."""
        self._asks.add(ask)
        if not self.reaches(ask.sender, ask.peer):
            self.fail(ask, f"there is no way to {ask.peer}")
        elif self._happens(self.loss):
            self.fail(ask, "the query was lost")
        else:
            for _ in range(2 if self._happens(self.duplication) else 1):
                self._post.put(self._delay(), lambda: self._deliver(ask))

    def _deliver(self, ask: _Ask) -> None:
        link = self._links.get(ask.peer)
        if ask.done or link is None:
            return
        if link.on_query is None:
            self.fail(ask, f"{ask.peer} takes no queries")
            return
        try:
            link.on_query(_MemoryQuery(self, ask))
        except Exception:
            log.exception("a query failed")
            self.fail(ask, "the other side failed at it: see its log")

    def answer(self, ask: _Ask, payload: bytes) -> None:
        """Deliver an answer, or lose it."""
        if self._happens(self.loss):
            self.fail(ask, "the answer was lost")
        else:
            self.settle(ask, lambda: ask.on_reply(payload))

    def fail(self, ask: _Ask, why: str) -> None:
        """Tell the asker that there will be no answer."""
        self.settle(ask, lambda: ask.on_failure(why))

    def settle(self, ask: _Ask, tell: Callable[[], None]) -> None:
        """Tell the asker, unless it was told before or is gone."""

        def once() -> None:
            if not ask.done:
                ask.done = True
                self._asks.discard(ask)
                if ask.sender in self._links:
                    tell()

        self._post.put(self._delay(), once)

    def _fail_cut(self) -> None:
        for ask in list(self._asks):
            if not self.reaches(ask.sender, ask.peer):
                self.fail(ask, f"the way to {ask.peer} was cut")

    def refresh(self) -> None:
        """Tell watchers which peers have come and gone."""
        self._post.put(self._delay(), self._refresh)

    def _refresh(self) -> None:
        for link in list(self._links.values()):
            seen = {
                (other, role): Peer(other, role, info)
                for other in self.others(link.identity)
                for role, info in self._links[other].roles.items()
            }
            link.see(seen)

    def _happens(self, probability: float) -> bool:
        return self._random.random() < probability

    def _delay(self) -> float:
        return self._random.uniform(*self.delay)


class MemoryLink:
    """A link of a `Network`."""

    def __init__(self, network: Network, identity: str) -> None:
        self._network, self._identity = network, identity
        self.on_query: OnQuery | None = None
        self.roles: dict[str, bytes] = {}
        self.dead = False
        self._watchers: list[tuple[OnPeer, OnPeer]] = []
        self._seen: dict[tuple[str, str], Peer] = {}

    @property
    def identity(self) -> str:
        return self._identity

    def ask(self, peer: str, payload: bytes, on_reply: OnReply, on_failure: OnFailure) -> None:
        self._network.ask(_Ask(self._identity, peer, payload, on_reply, on_failure))

    def serve(self, on_query: OnQuery) -> None:
        self.on_query = on_query

    def announce(self, role: str, info: bytes = b"") -> None:
        self.roles[role] = info
        self._network.refresh()

    def watch(self, on_appeared: OnPeer, on_gone: OnPeer) -> None:
        self._watchers.append((on_appeared, on_gone))
        self._network.refresh()

    def watch_trouble(self, on_trouble: OnTrouble) -> None:
        """Memory links have no trouble to report."""

    def peers(self) -> list[str]:
        return self._network.others(self._identity)

    def close(self) -> None:
        if not self.dead:
            self._network.kill(self._identity)

    def see(self, now: dict[tuple[str, str], Peer]) -> None:
        """Tell watchers which peers have come and gone since the last call."""
        if not self._watchers:
            return
        before, self._seen = self._seen, now
        for on_appeared, on_gone in self._watchers:
            for key, peer in before.items():
                if key not in now:
                    on_gone(peer)
            for key, peer in now.items():
                if before.get(key) != peer:
                    on_appeared(peer)


@dataclass(eq=False, slots=True)
class _Ask:
    """A query that has no answer yet."""

    sender: str
    peer: str
    payload: bytes
    on_reply: OnReply
    on_failure: OnFailure
    done: bool = False


class _MemoryQuery(Query):
    def __init__(self, network: Network, ask: _Ask) -> None:
        self._network, self._ask = network, ask
        self.sender, self.payload = ask.sender, ask.payload

    def reply(self, payload: bytes) -> None:
        self._network.answer(self._ask, payload)

    def refuse(self, why: str) -> None:
        self._network.fail(self._ask, why)


@dataclass(order=True, slots=True)
class _Letter:
    due: float
    number: int
    deliver: Callable[[], None] = field(compare=False)


class _Post:
    """A thread that delivers letters when they are due."""

    def __init__(self) -> None:
        self._letters: list[_Letter] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        threading.Thread(target=self._run, name="steelyard-memory", daemon=True).start()

    def put(self, delay: float, deliver: Callable[[], None]) -> None:
        with self._changed:
            letter = _Letter(time.monotonic() + delay, next(self._numbers), deliver)
            heapq.heappush(self._letters, letter)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _run(self) -> None:
        while (letter := self._next()) is not None:
            try:
                letter.deliver()
            except Exception:
                log.exception("a callback failed")

    def _next(self) -> _Letter | None:
        with self._changed:
            while not self._closed:
                if not self._letters:
                    self._changed.wait()
                elif (wait := self._letters[0].due - time.monotonic()) > 0:
                    self._changed.wait(wait)
                else:
                    return heapq.heappop(self._letters)
        return None
