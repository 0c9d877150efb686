"""Which links are there: liveliness tokens of our own and of all others."""

from __future__ import annotations

import threading

import zenoh

from steelyard.mesh.transport.base import OnPeer, Peer
from steelyard.mesh.transport.later import Later
from steelyard.mesh.transport.zenoh.keys import Keys, read_role


class Roles:
    """The roles that links announce. Of one role, the announcement with the highest serial
    counts.
    """

    def __init__(self, session: zenoh.Session, keys: Keys, identity: str, later: Later) -> None:
        self._session, self._keys, self._identity, self._later = session, keys, identity, later
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[int, zenoh.LivelinessToken]] = {}
        # The announcements of each peer and role, by serial.
        self._words: dict[tuple[str, str], dict[int, Peer]] = {}
        self._watchers: list[tuple[OnPeer, OnPeer]] = []
        self._subscriber: object = None

    def announce(self, role: str, info: bytes) -> None:
        with self._lock:
            serial, old = self._tokens.get(role, (0, None))
            key = self._keys.role(self._identity, role, serial + 1, info)
            token = self._session.liveliness().declare_token(key)
            self._tokens[role] = (serial + 1, token)
        if old is not None:
            old.undeclare()

    def withdraw(self) -> None:
        """Withdraw all roles of this link."""
        with self._lock:
            tokens, self._tokens = self._tokens, {}
        for _, token in tokens.values():
            token.undeclare()

    def watch(self, on_appeared: OnPeer, on_gone: OnPeer) -> None:
        with self._lock:
            self._watchers.append((on_appeared, on_gone))
            for words in self._words.values():
                peer = words[max(words)]
                self._later(lambda peer=peer: on_appeared(peer))  # type: ignore[misc]
            first = self._subscriber is None
            self._subscriber = self._subscriber or self
        if first:
            handler = zenoh.handlers.Callback(self._take, indirect=False)
            liveliness = self._session.liveliness()
            self._subscriber = liveliness.declare_subscriber(
                self._keys.roles, handler, history=True
            )

    def _take(self, sample: zenoh.Sample) -> None:
        try:
            told = read_role(str(sample.key_expr))
        except ValueError:
            return
        if told.version != self._keys.version or told.identity == self._identity:
            return
        peer = Peer(told.identity, told.role, told.info)
        with self._lock:
            if sample.kind == zenoh.SampleKind.PUT:
                self._add(told.serial, peer)
            else:
                self._remove(told.serial, peer)

    def _add(self, serial: int, peer: Peer) -> None:
        words = self._words.setdefault((peer.identity, peer.role), {})
        newest = max(words, default=-1)
        if serial > newest:
            self._tell(0, peer)
        words[serial] = peer

    def _remove(self, serial: int, peer: Peer) -> None:
        words = self._words.get((peer.identity, peer.role), {})
        if words.pop(serial, None) is not None and not words:
            del self._words[peer.identity, peer.role]
            self._tell(1, peer)

    def _tell(self, which: int, peer: Peer) -> None:
        for watcher in self._watchers:
            self._later(lambda watcher=watcher: watcher[which](peer))  # type: ignore[misc]
