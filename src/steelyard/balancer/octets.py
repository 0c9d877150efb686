"""Octets: the few questions that a reader of heads asks of bytes, by position and without copies.

Here each is a method of `bytes`; in `octets.pxd` each is a loop over memory, for the compiled
build. So the grammar itself is written once, and is quick in both.
"""

from __future__ import annotations

from collections.abc import Callable

_CONTROLS = bytes(code for code in range(32) if code not in b"\t\r\n") + b"\x7f"


class Alphabet:
    """A set of octets."""

    __slots__ = ("members",)

    def __init__(self, members: bytes) -> None:
        self.members = members


# Where a method of `bytes` is the answer, it is called without a function of ours around it.
octet: Callable[[bytes, int], int] = bytes.__getitem__  # the one at a position
# Where the first such octet is between two positions, or −1.
find: Callable[[bytes, int, int, int], int] = bytes.find
seek: Callable[[bytes, bytes, int], int] = bytes.find  # where such a sequence begins, or −1
joined: Callable[[tuple[bytes, ...]], bytes] = b"".join  # all of them, one after the other


def spans(data: bytes, start: int, end: int, alphabet: Alphabet) -> bool:
    """Whether all octets between the two positions are of the alphabet."""
    return not data[start:end].translate(None, alphabet.members)


def matches(data: bytes, start: int, end: int, wanted: bytes) -> bool:
    """Whether this, and no more, is between the two positions."""
    return data[start:end] == wanted


def breaks(data: bytes) -> int:
    """How many line feeds there are; −1 when there is another control character.

    Tabs are none, and carriage returns are not looked at.
    """
    return -1 if len(data.translate(None, _CONTROLS)) < len(data) else data.count(b"\n")


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
