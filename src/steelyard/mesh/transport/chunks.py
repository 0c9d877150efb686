"""Large messages in pieces: no message on the wire is larger than `CAP`."""

from __future__ import annotations

from collections.abc import Sequence

CAP = 16 * 1024 * 1024  # bytes


def split(payload: bytes, cap: int = CAP) -> Sequence[bytes | memoryview]:
    """The pieces of a payload, in order; there is at least one."""
    if len(payload) <= cap:
        return [payload]
    view = memoryview(payload)
    return [view[at : at + cap] for at in range(0, len(payload), cap)]


class Assembly:
    """Puts the pieces of one payload together; they must arrive in order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pieces: list[bytes] = []

    def add(self, index: int, count: int, piece: bytes) -> bytes | None:
        """Add a piece; return the payload after the last one. A piece out of order raises
        ValueError.
        """
        if index != len(self._pieces) or count != self._count:
            raise ValueError(f"piece {index} of {count} came after {len(self._pieces)}")
        self._pieces.append(piece)
        return b"".join(self._pieces) if len(self._pieces) == self._count else None
