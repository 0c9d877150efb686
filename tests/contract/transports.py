"""The transports that the contract suite binds: actors that ask, answer and watch over one of them.

An actor over memory is in this process. An actor over Zenoh is in a process of its own, controlled
over a pipe, so that it can be killed like a node.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import random
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeVar

from steelyard.mesh.transport.base import Link, Peer, Query
from steelyard.mesh.transport.memory import Network
from tests.docker.namespace import enter

T = TypeVar("T")
PATIENCE = 120.0  # seconds; nothing that works takes so long
LONG = 1000  # bytes; of a longer payload only the hash is compared
PARK, REFUSE, TWICE, CRASH = b"park", b"refuse", b"twice", b"crash"


def eventually(look: Callable[[], T]) -> T:
    """Look again and again until the result is true."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return seen


def noise(seed: int, size: int) -> bytes:
    """Bytes in which a missing or misplaced piece shows."""
    block = random.Random(seed).randbytes(min(size, 1_000_003))
    return (block * (size // max(1, len(block)) + 1))[:size]


def brief(payload: bytes) -> bytes:
    """A payload, or its hash if it is long."""
    return payload if len(payload) <= LONG else hashlib.sha256(payload).digest()


class Actor:
    """A link, and what it has seen; it answers all queries."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._numbers = itertools.count(1)
        self._answers: dict[int, list[tuple[str, bytes]]] = {}
        self._events: list[tuple[str, Peer]] = []
        self._queries: list[tuple[str, bytes]] = []
        self._parked: list[Query] = []
        self._inside = threading.local()  # whether this thread is in `ask`

    def identity(self) -> str:
        return self._link.identity

    def serve(self) -> None:
        self._link.serve(self._take)

    def announce(self, role: str, info: bytes = b"") -> None:
        self._link.announce(role, info)

    def watch(self) -> None:
        self._link.watch(
            lambda peer: self._events.append(("appeared", peer)),
            lambda peer: self._events.append(("gone", peer)),
        )

    def ask(self, peer: str, payload: bytes) -> int:
        number = next(self._numbers)
        told = self._answers[number] = []

        def tell(kind: str, payload: bytes) -> None:
            told.append(("told within ask" if self._asking() else kind, brief(payload)))

        self._inside.asking = True
        self._link.ask(
            peer,
            payload,
            lambda answer: tell("reply", answer),
            lambda why: tell("failure", why.encode()),
        )
        self._inside.asking = False
        return number

    def ask_noise(self, peer: str, seed: int, size: int) -> int:
        return self.ask(peer, noise(seed, size))

    def _asking(self) -> bool:
        return getattr(self._inside, "asking", False)

    def _take(self, query: Query) -> None:
        self._queries.append((query.sender, brief(query.payload)))
        if query.payload == PARK:
            self._parked.append(query)
        elif query.payload == REFUSE:
            query.refuse("not today")
        elif query.payload == CRASH:
            raise RuntimeError("on purpose")
        else:
            query.reply(query.payload)
            if query.payload == TWICE:
                query.reply(b"again")
                query.refuse("after all")

    def release(self) -> None:
        while self._parked:
            self._parked.pop().reply(b"released")

    def parked(self) -> int:
        return len(self._parked)

    def answers(self, number: int) -> list[tuple[str, bytes]]:
        return list(self._answers[number])

    def events(self) -> list[tuple[str, Peer]]:
        return list(self._events)

    def queries(self) -> list[tuple[str, bytes]]:
        return list(self._queries)

    def peers(self) -> list[str]:
        return self._link.peers()

    def close(self) -> None:
        self._link.close()


def play(pipe: Connection, options: dict[str, Any], host: int | None) -> None:
    """Run an actor in a process of its own, possibly on a host of its own."""
    if host is not None:
        enter(host)
    from steelyard.mesh.transport.zenoh.link import ZenohLink

    link = ZenohLink(**options)
    actor = Actor(link)
    pipe.send(link.locators)
    while True:
        try:
            name, args = pipe.recv()
        except EOFError:
            return
        pipe.send(getattr(actor, name)(*args))


class Remote:
    """An actor in another process; method calls are forwarded to it."""

    def __init__(self, host: int | None = None, **options: Any) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=play, args=(theirs, options, host), daemon=True)
        self.process.start()
        theirs.close()
        self.locators: list[str] = self._pipe.recv()
        self.there = True

    def __getattr__(self, name: str) -> Any:
        def call(*args: object) -> Any:
            self.there = self.there and name != "close"
            self._pipe.send((name, args))
            return self._pipe.recv()

        return call

    def kill(self) -> None:
        self.there = False
        self.process.kill()
        self.process.join()


class Bench(Protocol):
    """A place where actors meet."""

    def actor(self) -> Any:
        """A new actor, linked to all others."""

    def kill(self, actor: Any) -> None:
        """Kill an actor without a good-bye."""

    def close(self) -> None:
        """End all actors."""


class MemoryBench:
    """Actors over memory."""

    def __init__(self) -> None:
        self._network = Network()

    def actor(self) -> Actor:
        return Actor(self._network.link())

    def kill(self, actor: Actor) -> None:
        self._network.kill(actor.identity())

    def close(self) -> None:
        self._network.close()


class ZenohBench:
    """Actors over Zenoh; each joins through the one before it."""

    def __init__(self) -> None:
        self._actors: list[Remote] = []

    def actor(self) -> Remote:
        others = [one for one in self._actors if one.there]
        actor = Remote(join=[one.locators[0] for one in others[-1:]])
        self._actors.append(actor)
        eventually(lambda: len(actor.peers()) >= len(others))
        return actor

    def kill(self, actor: Remote) -> None:
        actor.kill()

    def close(self) -> None:
        for actor in self._actors:
            actor.kill()


TRANSPORTS: dict[str, Callable[[], Bench]] = {"memory": MemoryBench, "zenoh": ZenohBench}
