"""Queries to other links: each is one `get`, which stays open until an answer comes or none can.

A payload above the cap goes in pieces, one query each; the answer comes to the last of them.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable

import zenoh

from steelyard.mesh.transport.base import OnFailure, OnReply
from steelyard.mesh.transport.chunks import Assembly, split
from steelyard.mesh.transport.later import Later
from steelyard.mesh.transport.zenoh.keys import Keys
from steelyard.mesh.transport.zenoh.threads import stay

# Head of a query: number, index, count; the sender's identity follows.
PIECE = struct.Struct("<QII")
ANSWER = struct.Struct("<II")  # head of an answer: index, count
FOREVER = 1e8  # seconds: a parked query has no time limit; it fails when its peer is gone


class Asking:
    """Sends the queries of one link."""

    def __init__(self, session: zenoh.Session, keys: Keys, identity: str, later: Later) -> None:
        self._session, self._keys, self.later = session, keys, later
        self._sender = identity.encode()
        self._lock = threading.Lock()
        self._number = 0
        self.closed = False

    def ask(self, peer: str, payload: bytes, on_reply: OnReply, on_failure: OnFailure) -> None:
        with self._lock:
            self._number += 1
            number = self._number
        _Ask(self, peer, number, payload, on_reply, on_failure).send()

    def get(self, peer: str, head: bytes, piece: bytes | memoryview, ask: _Ask) -> None:
        self._session.get(
            self._keys.ask(peer),
            zenoh.handlers.Callback(ask.on_zenoh_reply, ask.on_zenoh_end, indirect=False),
            payload=bytes(piece),
            attachment=head + self._sender,
            timeout=FOREVER,
            consolidation=zenoh.ConsolidationMode.NONE,
        )


class _Ask:
    """One query that waits for its answer."""

    def __init__(
        self,
        asking: Asking,
        peer: str,
        number: int,
        payload: bytes,
        on_reply: OnReply,
        on_failure: OnFailure,
    ) -> None:
        self._asking, self._peer, self._number = asking, peer, number
        self._on_reply, self._on_failure = on_reply, on_failure
        self._pieces = split(payload)
        self._index = -1
        self._taken = False  # whether the other side has taken the current piece
        self._assembly: Assembly | None = None
        self._why = f"{peer} cannot be reached, or left while we waited"
        self._sending: int | None = None
        self._done = False

    def send(self) -> None:
        """Send the next piece. A closed link sends nothing, as nobody would take the answer."""
        if self._asking.closed:
            return
        self._index, self._taken = self._index + 1, False
        head = PIECE.pack(self._number, self._index, len(self._pieces))
        self._sending = threading.get_ident()
        try:
            self._asking.get(self._peer, head, self._pieces[self._index], self)
        except zenoh.ZError as error:
            self._why = f"Zenoh: {error}"
            self._finish(lambda: self._on_failure(self._why))
        finally:
            self._sending = None

    def on_zenoh_reply(self, reply: zenoh.Reply) -> None:
        stay()
        if reply.ok is None:
            self._why = reply.err.payload.to_string() if reply.err is not None else self._why
        elif self._index + 1 < len(self._pieces):
            self._taken = True
        else:
            self._take(reply.ok)

    def _take(self, sample: zenoh.Sample) -> None:
        head = sample.attachment
        index, count = ANSWER.unpack(head.to_bytes()) if head is not None else (0, 1)
        if self._assembly is None:
            self._assembly = Assembly(count)
        try:
            payload = self._assembly.add(index, count, sample.payload.to_bytes())
        except ValueError as error:
            self._why = f"{self._peer} sent a broken answer: {error}"
            return
        if payload is not None:
            whole = payload
            self._finish(lambda: self._on_reply(whole))

    def on_zenoh_end(self) -> None:
        """Finish: Zenoh is done with this query, so nothing more comes."""
        if self._taken:
            self.send()
        else:
            self._finish(lambda: self._on_failure(self._why))

    def _finish(self, tell: Callable[[], None]) -> None:
        if self._done or self._asking.closed:
            return
        self._done = True
        if (
            self._sending == threading.get_ident()
        ):  # never call back from within `ask`: its caller may hold a lock
            self._asking.later(tell)
        else:
            tell()
