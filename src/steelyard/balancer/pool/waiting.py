"""WaitingRequests: requests that wait for a worker to have room.

The requests of one client are served in the order in which they came. Clients take turns, so that a
client with a hundred requests does not delay the first request of other clients. Few requests may
wait, and not for long: a refusal at once is better than one after a person has given up.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class WaitingRequests(Generic[T]):
    """A fair queue. `join`, `leave` and `next` are O(1), as a dict allows removal in the middle."""

    __slots__ = ("_joined", "_most", "_turns")

    def __init__(self, most: int) -> None:
        self._most = most
        self._joined: dict[T, tuple[bytes, float]] = {}  # client and time, in the order of joining
        self._turns: dict[
            bytes, dict[T, None]
        ] = {}  # requests by client; the next turn is the first client's

    def __len__(self) -> int:
        return len(self._joined)

    @property
    def oldest(self) -> float:
        """The time at which the first request in the queue began to wait."""
        return next(iter(self._joined.values()))[1]

    def join(self, client: bytes, item: T, now: float) -> bool:
        """Add a request behind the client's others; return False if too many requests wait."""
        if len(self._joined) >= self._most:
            return False
        self._joined[item] = (client, now)
        self._turns.setdefault(client, {})[item] = None
        return True

    def leave(self, item: T) -> None:
        """Remove a request from any position."""
        client, _ = self._joined.pop(item)
        own = self._turns[client]
        del own[item]
        if not own:
            del self._turns[client]

    def next(self) -> T:
        """Remove and return the next request; the client's others wait for its next turn."""
        client, own = next(iter(self._turns.items()))
        item = next(iter(own))
        self.leave(item)
        if own:
            self._turns[client] = self._turns.pop(client)
        return item

    def late(self, before: float) -> list[T]:
        """Remove and return the requests that joined at `before` or earlier."""
        late: list[T] = []
        for item, (_, since) in self._joined.items():
            if since > before:
                break
            late.append(item)
        for item in late:
            self.leave(item)
        return late
