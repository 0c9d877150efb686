"""The contract of a transport.

Callbacks come from the transport's threads, possibly several at once, and must not block. They may
call any method of the link except `close`, which waits for them. A payload may have any size that
fits in memory. No time of day is on the wire.

A query is delivered once or not at all. Its asker, while its link is open, hears exactly one of
reply and failure: a failure says nothing about whether the other side saw the query. An unanswered
query stays open for as long as both sides live and can reach each other, so that a peer may park
it; when they no longer can, it fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

VERSION = "1"  # of the messages between nodes; nodes of different versions do not work together


@dataclass(frozen=True, slots=True)
class Peer:
    """One role of another link, as that link announced it."""

    identity: str
    role: str
    info: bytes  # small: it travels with every announcement


class Trouble(NamedTuple):
    """Something about a link that people should know."""

    text: str
    lasting: bool = False  # while the trouble lasts, it is of no use to wait for other nodes


class Query(Protocol):
    """A query of a peer, which we are to answer."""

    sender: str  # its identity
    payload: bytes

    def reply(self, payload: bytes) -> None:
        """Answer, now or later. Only the first answer counts, and one to a dead peer is ignored."""

    def refuse(self, why: str) -> None:
        """Refuse to answer: the asker hears of a failure, with this reason."""


OnReply = Callable[[bytes], None]
OnFailure = Callable[[str], None]  # called with a sentence for people
OnQuery = Callable[[Query], None]
OnPeer = Callable[[Peer], None]
OnTrouble = Callable[[Trouble], None]


class Link(Protocol):
    """One node's end of the mesh. Every method may be called from any thread."""

    @property
    def identity(self) -> str:
        """The name of this link, in letters and digits. No two links ever have the same, in any
        process.
        """

    def ask(self, peer: str, payload: bytes, on_reply: OnReply, on_failure: OnFailure) -> None:
        """Send a query to the link with this identity."""

    def serve(self, on_query: OnQuery) -> None:
        """Take queries from now on. Call this at most once in a link's life."""

    def announce(self, role: str, info: bytes = b"") -> None:
        """Be known by this role from now on; a second call replaces the info of the first.

        A link that is to be asked must call `serve` before it announces its role. To a watcher, a
        replacement is the peer appearing again, with the new info.
        """

    def watch(self, on_appeared: OnPeer, on_gone: OnPeer) -> None:
        """Hear of the roles of all other links, including those announced before.

        For one peer and role, calls of `on_appeared` and `on_gone` alternate, except that a peer
        may appear again with other info. A peer is gone when it closed or died, and also while it
        cannot be reached.
        """

    def watch_trouble(self, on_trouble: OnTrouble) -> None:
        """Hear of troubles, such as a peer of another version or a refused certificate."""

    def peers(self) -> list[str]:
        """Identities of the links that this one has a connection to, for people to look at."""

    def close(self) -> None:
        """Leave the mesh: peers see at once that we are gone. No callback begins after this."""
