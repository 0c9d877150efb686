"""The contract of a transport.

Callbacks come from the transport's threads, possibly several at once, and must not block; they may
call the link, but for `close`, which waits for them. A payload may have any size that fits in
memory. No time of day is on the wire.

A query is delivered once or not at all, and its asker, while its link is open, hears exactly one of
reply and failure: a failure says nothing about whether the other side saw the query. An unanswered
query stays open for as long as both sides live and can reach each other, so that a peer may park
it; when they no longer can, it fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

VERSION = "1"  # of what nodes say to each other; those of different ones do not work together


@dataclass(frozen=True, slots=True)
class Peer:
    """One role of another link, as it was announced."""

    identity: str
    role: str
    info: bytes  # small: it travels with every announcement


class Trouble(NamedTuple):
    """What people should know."""

    text: str
    lasting: bool = False  # while it is so, waiting for others is of no use


class Query(Protocol):
    """What a peer asks of us."""

    sender: str  # its identity
    payload: bytes

    def reply(self, payload: bytes) -> None:
        """Answer, now or later, once; a second answer is ignored, as is one to a dead peer."""

    def refuse(self, why: str) -> None:
        """Answer that there is no answer: the asker hears of a failure, with this reason."""


OnReply = Callable[[bytes], None]
OnFailure = Callable[[str], None]  # with a sentence for people
OnQuery = Callable[[Query], None]
OnPeer = Callable[[Peer], None]
OnTrouble = Callable[[Trouble], None]


class Link(Protocol):
    """One node's end of the mesh. All of it may be called from any thread."""

    @property
    def identity(self) -> str:
        """Letters and digits; no two links ever have the same, of one process or of many."""

    def ask(self, peer: str, payload: bytes, on_reply: OnReply, on_failure: OnFailure) -> None:
        """Send a query to the link with this identity."""

    def serve(self, on_query: OnQuery) -> None:
        """Take queries from now on; at most once in a link's life."""

    def announce(self, role: str, info: bytes = b"") -> None:
        """Be known as this role from now on; again, with other info, replaces the first.

        Who is to be asked serves before it announces. A watcher sees a replacement as the peer
        appearing again, with the new info.
        """

    def watch(self, on_appeared: OnPeer, on_gone: OnPeer) -> None:
        """Hear of the roles of all other links, those announced before included.

        For one peer and role the calls alternate, but for its appearing again with other info.
        A peer is gone when it closed or died, and also while it cannot be reached.
        """

    def watch_trouble(self, on_trouble: OnTrouble) -> None:
        """Hear of what people should know: a peer of another version, a refused certificate."""

    def peers(self) -> list[str]:
        """Identities of the links that this one has a connection to, for people to look at."""

    def close(self) -> None:
        """Leave: peers see us gone at once. No callback begins after this."""
