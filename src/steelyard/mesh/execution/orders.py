"""The messages between a pool and one child: orders go out, answers come back."""

from __future__ import annotations

import errno
import socket
import struct
import time
from typing import NamedTuple

from steelyard.mesh.execution import parcel
from steelyard.mesh.execution.outcome import Failure, Kind
from steelyard.mesh.execution.unit import Unit
from steelyard.mesh.execution.wire import pack_failure

_ORDER = struct.Struct("<QqH")  # ticket, memory or −1, length of the function's name
_ANSWER = struct.Struct("<QdBI")  # ticket, seconds, kind, length of the output
_KINDS = tuple(Kind)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
PAUSE = 0.005  # seconds
MOST_OUTPUT = parcel.INLINE // 2


class Order(NamedTuple):
    """A unit, as its child receives it."""

    ticket: int
    function: str
    memory: int | None
    arguments: bytes | memoryview


class Answer(NamedTuple):
    """An outcome, as its child sends it."""

    ticket: int
    kind: Kind
    value: bytes
    output: bytes
    seconds: float


def send_order(link: socket.socket, ticket: int, unit: Unit) -> None:
    """Tell a child to run a unit after those that it has."""
    name = unit.function.encode()
    head = _ORDER.pack(ticket, -1 if unit.memory is None else unit.memory, len(name)) + name
    parcel.send(link, head, [unit.arguments])


def read_order(got: parcel.Parcel) -> Order:
    """Parse an order; raise OSError if the descriptor of its arguments was lost."""
    if got.torn:
        raise OSError(errno.EMFILE, "no descriptor is left for the arguments of a unit")
    ticket, memory, length = _ORDER.unpack_from(got.message)
    name = bytes(got.message[_ORDER.size : _ORDER.size + length]).decode()
    if got.fd is None:
        arguments: bytes | memoryview = bytes(got.message[_ORDER.size + length :])
    else:
        arguments = parcel.look_at(got.fd)
    return Order(ticket, name, None if memory < 0 else memory, arguments)


def ticket_of(got: parcel.Parcel) -> int:
    """The ticket of an order."""
    ticket: int = _ORDER.unpack_from(got.message)[0]
    return ticket


def send_answer(
    link: socket.socket,
    ticket: int,
    kind: Kind,
    value: list[parcel.Piece],
    output: bytes,
    seconds: float,
) -> None:
    """Send the outcome of a unit to the pool; wait while too many descriptors are in flight."""
    head = _ANSWER.pack(ticket, seconds, _NUMBERS[kind], len(output))
    while not _sent(link, head, [output, *value]):
        time.sleep(PAUSE)


def _sent(link: socket.socket, head: bytes, body: list[parcel.Piece]) -> bool:
    try:
        parcel.send(link, head, body)
    except OSError as error:
        if error.errno != errno.ETOOMANYREFS:
            raise
        return False
    return True


def read_answer(got: parcel.Parcel) -> Answer:
    """Parse an answer; if its value was lost, the unit counts as crashed, and is tried again."""
    ticket, seconds, kind, length = _ANSWER.unpack_from(got.message)
    if got.torn:
        why = Failure("OSError", "its value was lost: this node has no file descriptors left")
        return Answer(ticket, Kind.CRASHED, pack_failure(why), b"", seconds)
    body = bytes(got.message[_ANSWER.size :]) if got.fd is None else parcel.take(got.fd)
    return Answer(ticket, _KINDS[kind], body[length:], body[:length], seconds)
