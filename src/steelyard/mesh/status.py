"""What a mesh is doing, asked of every node and client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.mesh import codec
from steelyard.mesh.transport.base import Link, Peer

QUIET = 0.5  # seconds without a new peer, after which all peers are believed to be known


@dataclass(frozen=True, slots=True)
class MeshStatus:
    """The nodes and clients that answered, and the identities of those that did not."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    clients: list[dict[str, Any]] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def ask_everybody(link: Link, patience: float) -> MeshStatus:
    """Look for peers for a while, then ask all of them."""
    return _Survey(link, patience).run()


class _Survey:
    def __init__(self, link: Link, patience: float) -> None:
        self._link, self._until = link, time.monotonic() + patience
        self._changed = threading.Condition()
        self._peers: dict[str, Peer] = {}
        self._last = time.monotonic()
        self._told: dict[str, dict[str, Any] | None] = {}

    def run(self) -> MeshStatus:
        self._link.watch(self._appeared, self._gone)
        half = (time.monotonic() + self._until) / 2  # peers may keep coming, so looking ends here
        self._wait(lambda: bool(self._peers) and time.monotonic() - self._last > QUIET, half)
        peers = list(self._peers.values())
        for peer in peers:
            self._ask(peer)
        self._wait(lambda: len(self._told) == len(peers), self._until)
        return MeshStatus(
            nodes=self._of(codec.NODE),
            clients=self._of(codec.CLIENT),
            silent=[
                peer.identity
                for peer in peers
                if self._told.get(peer.identity) is None and peer.identity in self._peers
            ],
        )

    def _appeared(self, peer: Peer) -> None:
        with self._changed:
            self._peers[peer.identity] = peer
            self._last = time.monotonic()

    def _gone(self, peer: Peer) -> None:
        """Forget a peer that left or died: it need not answer."""
        with self._changed:
            self._peers.pop(peer.identity, None)

    def _wait(self, done: Callable[[], bool], until: float) -> None:
        with self._changed:
            while not done() and (left := until - time.monotonic()) > 0:
                self._changed.wait(min(left, QUIET / 5))

    def _ask(self, peer: Peer) -> None:
        def heard(payload: bytes | None) -> None:
            with self._changed:
                self._told[peer.identity] = _understood(payload)
                self._changed.notify_all()

        self._link.ask(peer.identity, codec.pack((codec.STATUS,)), heard, lambda _: heard(None))

    def _of(self, role: str) -> list[dict[str, Any]]:
        found = []
        for identity, told in self._told.items():
            peer = self._peers.get(identity)
            if told is not None and peer is not None and peer.role == role:
                found.append({"identity": identity, **told})
        return sorted(found, key=lambda one: str(one["name"]))


def _understood(payload: bytes | None) -> dict[str, Any] | None:
    try:
        return None if payload is None else codec.read_status(payload)
    except SteelyardError:
        return None
