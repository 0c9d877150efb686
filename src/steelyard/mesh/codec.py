"""Messages as bytes: msgpack, with tuples as arrays.

A query is `[word, …]`. A message that cannot be read raises a MalformedError that says what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import msgpack

import steelyard
from steelyard.errors import Fault, MalformedError, SteelyardError, UsageError
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.messages import VERSION, Grant, Offer, Order, Pull, Result
from steelyard.mesh.transport.base import Peer

PULL, CALL, STOP, STATUS = "pull", "call", "stop", "status"
NODE, CLIENT = "node", "client"  # roles
LONGEST_CARD = 40 * 1024  # bytes

T = TypeVar("T")


class VersionError(SteelyardError):
    """A peer speaks another version of the mesh."""

    fault = Fault.USER


class Card(NamedTuple):
    """What a node or client tells about itself when it announces its role."""

    name: str  # a name for people
    weight: float = 1.0
    procs: int = 0
    functions: tuple[str, ...] = ()
    version: int = VERSION
    release: str = steelyard.__version__

    @property
    def offer(self) -> Offer:
        """The offer of a node."""
        return Offer(self.procs, frozenset(self.functions))


def pack(message: object) -> bytes:
    """Pack a message of any kind."""
    packed: bytes = msgpack.packb(message)
    return packed


def announcement(card: Card) -> bytes:
    """Pack a card to be announced."""
    try:
        packed = pack(card)
    except UnicodeEncodeError:
        raise UsageError(f"the name {card.name!r} cannot be sent as text") from None
    if len(packed) > LONGEST_CARD:
        raise UsageError(
            f"{len(card.functions)} functions are too many to announce, or the name is too long",
            hint=f"{len(packed)} bytes of at most {LONGEST_CARD}; start two nodes",
        )
    return packed


def read_query(payload: bytes) -> tuple[str, tuple[Any, ...]]:
    """The word of a query, and its other parts."""
    return _read(payload, lambda query: (str(query[0]), tuple(query[1:])), "query")


def read_pull(rest: tuple[Any, ...]) -> Pull:
    """Read the parts of a query after the word PULL."""
    return _understand(lambda: _pull(*rest), "pull")


def read_call(rest: tuple[Any, ...]) -> int:
    """Read the parts of a query after the word CALL."""
    return _understand(lambda: int(rest[0]), "call")


def read_stop(rest: tuple[Any, ...]) -> tuple[int, ...]:
    """Read the parts of a query after the word STOP."""
    return _understand(lambda: tuple(int(number) for number in rest[0]), "stop")


def read_grant(payload: bytes) -> Grant:
    """Read the answer to a pull."""
    return _read(payload, _grant, "grant")


def read_card(payload: bytes) -> Card:
    """Read an announcement. If its version is another, only the version can be relied upon."""
    return _read(payload, lambda rest: Card(*rest[: len(Card._fields)]), "announcement")


def meet(peer: Peer) -> Card:
    """The card of a peer that we can work with; for others, an error that says why not."""
    try:
        card = read_card(peer.info)
    except MalformedError as error:
        raise MalformedError(f"{peer.role} {peer.identity}: {error.message}") from None
    if card.version != VERSION:
        raise VersionError(
            f"{peer.role} {card.name} speaks version {card.version} of the mesh "
            f"(steelyard {card.release}), this is version {VERSION}: it is ignored; "
            "install the same steelyard on both"
        )
    return card


def read_status(payload: bytes) -> dict[str, Any]:
    """Read the answer to STATUS."""
    return _read(payload, dict, "status")


def _pull(serial: int, seen: int, want: int, idle: int, park: bool, *rest: Any) -> Pull:
    holding, results = rest
    told = tuple(Result(number, _KINDS[kind], *more) for number, kind, *more in results)
    return Pull(serial, seen, want, idle, park, holding, told)


def _grant(rest: tuple[Any, ...]) -> Grant:
    orders, more, stop = rest
    return Grant(tuple(Order(*one) for one in orders), more, stop)


_WRONG = (ValueError, TypeError, KeyError, IndexError, OverflowError)
_KINDS = {kind.value: kind for kind in Kind}


def _read(payload: bytes, build: Callable[[Any], T], what: str) -> T:
    return _understand(
        lambda: build(msgpack.unpackb(payload, use_list=False, strict_map_key=False)), what
    )


def _understand(build: Callable[[], T], what: str) -> T:
    try:
        return build()
    except (*_WRONG, msgpack.UnpackException) as error:
        raise MalformedError(f"not a {what} of the mesh: {type(error).__name__}: {error}") from None
