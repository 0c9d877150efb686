"""Splits the text of a log into lines, within bounds: a line may have 100 MB before its newline."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Iterable
from typing import BinaryIO, TypeVar

T = TypeVar("T")

MOST = 4 * 1024 * 1024  # bytes that are read for one request, however many lines it asks for
ALL = 10**9  # lines; more than any log has
LONGEST = 16 * 1024  # bytes of a line that are shown at once
CUT = b"[the beginning of this line is cut] "


def read_tail(file: BinaryIO, lines: int) -> bytes:
    """Read the last lines of a log that may be larger than memory: at most `MOST` bytes."""
    begin = max(0, file.seek(0, os.SEEK_END) - MOST)
    if lines <= 0:
        return b""
    file.seek(begin)
    return last_lines(file.read(MOST), lines, whole=begin == 0)


def last_lines(text: bytes, lines: int, *, whole: bool = True) -> bytes:
    """The last lines of a text; a line that is too long, or begins before the text, is cut."""
    every = io.BytesIO(text).readlines()  # splitlines would also split at \r
    shown = [_shortened(line) for line in every[-lines:]]
    if shown and not whole and len(shown) == len(every):
        shown[0] = CUT + shown[0].removeprefix(CUT)
    return b"".join(shown)


def _shortened(line: bytes) -> bytes:
    """Cut a line that is too long; its end is kept, as the program printed that last."""
    return line if len(line) <= LONGEST else CUT + line[-LONGEST:]


def newest(lines: Iterable[T], last: int | None) -> Iterable[T]:
    """The last `last` items, or all of them with None."""
    return deque(lines, maxlen=last)


class Splitter:
    """Splits text that comes in blocks into lines; a line that is too long comes in pieces."""

    def __init__(self) -> None:
        self._rest = b""  # the beginning of a line whose newline has not come yet

    def feed(self, text: bytes) -> list[str]:
        """The lines that are complete with this text, without their newlines."""
        *whole, self._rest = (self._rest + text).split(b"\n")
        pieces = [piece for line in whole for piece in _pieces(line)]
        *long, self._rest = _pieces(self._rest)
        return [piece.decode(errors="replace") for piece in (*pieces, *long)]

    def end(self) -> list[str]:
        """The last line, if it ended without a newline."""
        rest, self._rest = self._rest, b""
        return [rest.decode(errors="replace")] if rest else []


def _pieces(line: bytes) -> list[bytes]:
    """Cut the line into pieces of at most `LONGEST` bytes."""
    return [line[at : at + LONGEST] for at in range(0, len(line), LONGEST)] or [b""]
