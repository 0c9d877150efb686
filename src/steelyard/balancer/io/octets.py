"""Octets: the operations on bytes, by position, that the parser of heads needs.

This module implements each of them with methods of `bytes` or regular expressions. For the compiled
build, `octets.pyx` implements them as loops over memory, mostly without copies. So the grammar is
written once, and is fast in both builds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Buffer: TypeAlias = bytes | memoryview  # octets received, or to be sent

_TEXT = re.compile(rb"[\t -~\x80-\xff]*")


class Alphabet:
    """A set of octets. No alphabet contains NUL, as the memory of bytes ends with a NUL, where the
    compiled `run` stops."""

    __slots__ = ("match", "members")

    def __init__(self, members: bytes) -> None:
        self.members = members
        self.match = re.compile(b"[" + re.escape(members) + b"]*").match


# If a method of `bytes` does the same, the method itself is used, without a wrapper function.
octet: Callable[[bytes, int], int] = bytes.__getitem__  # the octet at a position
# The position of the first octet of a value between two positions, or −1.
find: Callable[[bytes, int, int, int], int] = bytes.find


def spans(data: bytes, start: int, end: int, alphabet: Alphabet) -> bool:
    """Whether all octets between the two positions are in the alphabet."""
    return not data[start:end].translate(None, alphabet.members)


def matches(data: bytes, start: int, end: int, wanted: bytes) -> bool:
    """Whether the octets between the two positions equal `wanted`."""
    return data[start:end] == wanted


def run(data: bytes, start: int, alphabet: Alphabet) -> int:
    """Return the position of the first octet that is not in the alphabet, or the end."""
    match = alphabet.match(data, start)
    return start if match is None else match.end()


def text_end(data: bytes, start: int) -> int:
    """Return the position of the first control character other than a tab, or the end."""
    match = _TEXT.match(data, start)
    return start if match is None else match.end()


def empty_line(data: bytes, start: int) -> int:
    """Return the position of the first CRLF that another CRLF follows, or −1."""
    return data.find(b"\r\n\r\n", start)


def cut(data: bytes, start: int, end: int) -> bytes:
    """Return a copy of the octets between the two positions."""
    return data[start:end]


def joined(
    text: bytes, size: int, second: bytes, third: bytes, fourth: bytes, fifth: bytes
) -> bytes:
    """Return the first `size` octets of the text, with the other parts behind them."""
    return b"".join((text[:size], second, third, fourth, fifth))


def extended(text: bytes, data: bytes, start: int, end: int) -> bytes:
    """Return the text, with the octets between the two positions of `data` behind it."""
    return text + data[start:end]


def decimal(data: bytes, start: int, end: int) -> int:
    """Return the decimal number between the two positions; −1 if the octets are no number or have
    more than 18 digits."""
    digits = data[start:end]
    return int(digits) if digits.isdigit() and len(digits) <= 18 else -1


def front(buffer: bytearray, size: int) -> bytes:
    """Return a copy of the first `size` octets of a buffer."""
    return bytes(memoryview(buffer)[:size])


def numbered(prefix: bytes, number: int) -> bytes:
    """Return the prefix, a dash and the number in hexadecimal."""
    return b"%b-%x" % (prefix, number)
