"""WaitingRequests: requests that wait for a worker to have room.

First come, first served within a client; clients take turns, so that one with a hundred requests
does not keep the others from their first. The line is short and has a deadline: who would wait for
longer than a person does is better told at once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class WaitingRequests(Generic[T]):
    """Every step is O(1): a dict is a queue that one can also leave from the middle."""

    __slots__ = ("_joined", "_most", "_turns")

    def __init__(self, most: int) -> None:
        self._most = most
        self._joined: dict[T, tuple[bytes, float]] = {}  # in the order of joining
        self._turns: dict[bytes, dict[T, None]] = {}  # clients, whose turn is next first

    def __len__(self) -> int:
        return len(self._joined)

    @property
    def oldest(self) -> float:
        """When the first of those who wait joined."""
        return next(iter(self._joined.values()))[1]

    def join(self, client: bytes, item: T, now: float) -> bool:
        """Stand at the end of one's own; False when the line is full."""
        if len(self._joined) >= self._most:
            return False
        self._joined[item] = (client, now)
        self._turns.setdefault(client, {})[item] = None
        return True

    def leave(self, item: T) -> None:
        """Go away from wherever one stands."""
        client, _ = self._joined.pop(item)
        own = self._turns[client]
        del own[item]
        if not own:
            del self._turns[client]

    def next(self) -> T:
        """Take out who is next, and let that client's others wait for its next turn."""
        client, own = next(iter(self._turns.items()))
        item = next(iter(own))
        self.leave(item)
        if own:
            self._turns[client] = self._turns.pop(client)
        return item

    def late(self, before: float) -> list[T]:
        """Take out all that joined by then."""
        late: list[T] = []
        for item, (_, since) in self._joined.items():
            if since > before:
                break
            late.append(item)
        for item in late:
            self.leave(item)
        return late
