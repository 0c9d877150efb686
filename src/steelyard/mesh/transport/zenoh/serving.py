"""Queries from other links."""

from __future__ import annotations

import logging
import struct
import threading
from contextlib import suppress

import zenoh

from steelyard.mesh.transport.base import OnQuery, Query
from steelyard.mesh.transport.chunks import Assembly, split
from steelyard.mesh.transport.zenoh.asking import ANSWER, PIECE
from steelyard.mesh.transport.zenoh.keys import Keys
from steelyard.mesh.transport.zenoh.threads import stay

log = logging.getLogger(__name__)


class Serving:
    """Takes queries for one link, from the call of `serve` on."""

    def __init__(self, session: zenoh.Session, keys: Keys, identity: str) -> None:
        self._session, self._key = session, keys.ask(identity)
        self._lock = threading.Lock()
        self._pieces: dict[str, dict[int, Assembly]] = {}  # by sender and number
        self._on_query: OnQuery | None = None
        self.closed = False

    def serve(self, on_query: OnQuery) -> None:
        self._on_query = on_query
        handler = zenoh.handlers.Callback(self._take, indirect=False)
        self._queryable = self._session.declare_queryable(self._key, handler, complete=True)

    def forget(self, sender: str) -> None:
        """Forget the unfinished payloads of a peer that is gone."""
        with self._lock:
            self._pieces.pop(sender, None)

    def _take(self, query: zenoh.Query) -> None:
        stay()
        if self.closed or self._on_query is None:
            query.drop()
            return
        try:
            sender, payload = self._collect(query)
        except (ValueError, struct.error, UnicodeDecodeError) as error:
            with suppress(zenoh.ZError):
                query.reply_err(f"a broken query: {error}".encode())
            query.drop()
            return
        if payload is None:
            with suppress(zenoh.ZError):
                query.reply(self._key, b"")
            query.drop()
            return
        self._give(ZenohQuery(query, self._key, sender, payload))

    def _give(self, query: ZenohQuery) -> None:
        try:
            self._on_query(query)  # type: ignore[misc]
        except Exception:
            log.exception("a query failed")
            query.refuse("the other side failed at it: see its log")

    def _collect(self, query: zenoh.Query) -> tuple[str, bytes | None]:
        """The sender, and the whole payload once its last piece is there."""
        head = query.attachment.to_bytes() if query.attachment is not None else b""
        number, index, count = PIECE.unpack_from(head)
        sender = head[PIECE.size :].decode("ascii")
        payload = query.payload.to_bytes() if query.payload is not None else b""
        if count == 1:
            return sender, payload
        with self._lock:
            mine = self._pieces.setdefault(sender, {})
            assembly = mine.setdefault(number, Assembly(count))
            whole = assembly.add(index, count, payload)
            if whole is not None:
                del mine[number]
        return sender, whole


class ZenohQuery(Query):
    """A query that waits for its answer."""

    def __init__(self, query: zenoh.Query, key: str, sender: str, payload: bytes) -> None:
        self._query: zenoh.Query | None = query
        self._key = key
        self.sender, self.payload = sender, payload

    def reply(self, payload: bytes) -> None:
        query, self._query = self._query, None
        if query is None:
            return
        pieces = split(payload)
        with suppress(zenoh.ZError):  # the asker is gone
            for index, piece in enumerate(pieces):
                head = ANSWER.pack(index, len(pieces))
                query.reply(self._key, bytes(piece), attachment=head)
        query.drop()

    def refuse(self, why: str) -> None:
        query, self._query = self._query, None
        if query is None:
            return
        with suppress(zenoh.ZError):
            query.reply_err(why.encode())
        query.drop()
