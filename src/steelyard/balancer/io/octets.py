"""Octets: the few questions that a reader of heads asks of bytes, by position and without copies.

Here each is a method of `bytes`; in `octets.pxd` each is a loop over memory, for the compiled
build. So the grammar itself is written once, and is quick in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Buffer: TypeAlias = bytes | memoryview  # octets that came, or that are to be sent

_TEXT = re.compile(rb"[\t -~\x80-\xff]*")


class Alphabet:
    """A set of octets. NUL is in none: it is what lies behind the last octet in memory."""

    __slots__ = ("match", "members")

    def __init__(self, members: bytes) -> None:
        self.members = members
        self.match = re.compile(b"[" + re.escape(members) + b"]*").match


# Where a method of `bytes` is the answer, it is called without a function of ours around it.
octet: Callable[[bytes, int], int] = bytes.__getitem__  # the one at a position
# Where the first such octet is between two positions, or −1.
find: Callable[[bytes, int, int, int], int] = bytes.find


def spans(data: bytes, start: int, end: int, alphabet: Alphabet) -> bool:
    """Whether all octets between the two positions are of the alphabet."""
    return not data[start:end].translate(None, alphabet.members)


def matches(data: bytes, start: int, end: int, wanted: bytes) -> bool:
    """Whether this, and no more, is between the two positions."""
    return data[start:end] == wanted


def run(data: bytes, start: int, alphabet: Alphabet) -> int:
    """Where the first octet is that is not of the alphabet; the end when all are."""
    match = alphabet.match(data, start)
    return start if match is None else match.end()


def text_end(data: bytes, start: int) -> int:
    """Where the first control character is that is no tab; the end when there is none."""
    match = _TEXT.match(data, start)
    return start if match is None else match.end()


def empty_line(data: bytes, start: int) -> int:
    """Where the line ends that an empty one follows; −1 when there is none."""
    return data.find(b"\r\n\r\n", start)


def cut(data: bytes, start: int, end: int) -> bytes:
    """A copy of what is between the two positions."""
    return data[start:end]


def joined(
    text: bytes, size: int, second: bytes, third: bytes, fourth: bytes, fifth: bytes
) -> bytes:
    """So much of the text, and the others behind it."""
    return b"".join((text[:size], second, third, fourth, fifth))


def extended(text: bytes, data: bytes, start: int, end: int) -> bytes:
    """The text, and what is between the two positions of the data."""
    return text + data[start:end]


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
