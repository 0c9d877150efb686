"""WaitingRequests: requests that wait for a worker to have room.

Requests of one client are served in the order in which they came; clients take turns, so that a
client with a hundred requests does not keep the others from their first. Few requests may wait, and
not for long: a client is better refused at once than after longer than a person would wait.
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
        self._turns: dict[
            bytes, dict[T, None]
        ] = {}  # by client; the client whose turn is next is first

    def __len__(self) -> int:
        return len(self._joined)

    @property
    def oldest(self) -> float:
        """When the request that has waited longest joined."""
        return next(iter(self._joined.values()))[1]

    def join(self, client: bytes, item: T, now: float) -> bool:
        """Let a client's request wait behind its others; False when too many requests wait."""
        if len(self._joined) >= self._most:
            return False
        self._joined[item] = (client, now)
        self._turns.setdefault(client, {})[item] = None
        return True

    def leave(self, item: T) -> None:
        """Take a request out, wherever it stands."""
        client, _ = self._joined.pop(item)
        own = self._turns[client]
        del own[item]
        if not own:
            del self._turns[client]

    def next(self) -> T:
        """Take out the next request; the client's others wait for its next turn."""
        client, own = next(iter(self._turns.items()))
        item = next(iter(own))
        self.leave(item)
        if own:
            self._turns[client] = self._turns.pop(client)
        return item

    def late(self, before: float) -> list[T]:
        """Take out all requests that joined by then."""
        late: list[T] = []
        for item, (_, since) in self._joined.items():
            if since > before:
                break
            late.append(item)
        for item in late:
            self.leave(item)
        return late
