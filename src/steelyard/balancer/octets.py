"""Octets: the few questions that a reader of heads asks of bytes, by position and without copies.

Here each is a method of `bytes`; in `octets.pxd` each is a loop over memory, for the compiled
build. So the grammar itself is written once, and is quick in both.
"""

from __future__ import annotations


class Alphabet:
    """A set of octets."""

    __slots__ = ("members",)

    def __init__(self, members: bytes) -> None:
        self.members = members


def octet(data: bytes, at: int) -> int:
    """The one at a position."""
    return data[at]


def find(data: bytes, wanted: int, start: int, end: int) -> int:
    """Where the first such octet is, or −1."""
    return data.find(wanted, start, end)


def seek(data: bytes, wanted: bytes, start: int) -> int:
    """Where the first such sequence begins, or −1."""
    return data.find(wanted, start)


def spans(data: bytes, start: int, end: int, alphabet: Alphabet) -> bool:
    """Whether all octets between the two positions are of the alphabet."""
    return not data[start:end].translate(None, alphabet.members)


def matches(data: bytes, start: int, end: int, wanted: bytes) -> bool:
    """Whether this, and no more, is between the two positions."""
    return data[start:end] == wanted


def cut(data: bytes, start: int, end: int) -> bytes:
    """A copy of what is between the two positions."""
    return data[start:end]


def decimal(data: bytes, start: int, end: int) -> int:
    """The number that is spelled there; −1 when it is none, or of more than 18 digits."""
    digits = data[start:end]
    return int(digits) if digits.isdigit() and len(digits) <= 18 else -1


def front(buffer: bytearray, size: int) -> bytes:
    """A copy of the first octets of a buffer."""
    return bytes(memoryview(buffer)[:size])


def numbered(prefix: bytes, number: int) -> bytes:
    """The prefix, a dash and the number in hexadecimal."""
    return b"%b-%x" % (prefix, number)
