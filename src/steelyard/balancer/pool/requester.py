"""Requester: one request, as the pool sees it.

The pool chooses a worker for a requester, may let it wait for one, and lends it a connection. The
connection then tells the requester what happens on it: those methods begin with `on_`. An exchange
is the requester of a balancer (exchange/exchange.py).
"""

from __future__ import annotations

from steelyard.balancer.pool.sticky import Pin
from steelyard.balancer.pool.worker import Worker


class Requester:
    """What a request must tell the pool, and what it is told by the pool."""

    __slots__ = ("crowded", "pin", "tried")

    tried: tuple[Worker, ...]  # the workers that have failed this request
    crowded: bool  # a worker could have been asked, if it had had room
    pin: Pin | None  # where the client's session is, with sticky sessions

    @property
    def asker(self) -> bytes:
        """The client's address, for policies with a key and for turns among waiting clients."""
        raise NotImplementedError

    # From the waiting requests

    def on_turn(self) -> None:
        """A worker has room for this request."""
        raise NotImplementedError

    def on_wait_over(self) -> None:
        """No worker had room in time."""
        raise NotImplementedError

    # From the connection

    def on_connected(self) -> None:
        """The worker accepted the connection."""
        raise NotImplementedError

    def on_worker_writable(self) -> None:
        """The worker can take more of the request."""
        raise NotImplementedError

    def flows(self) -> bool:
        """Whether the worker's next bytes may go to the client unread, through the loop's pipe."""
        raise NotImplementedError

    def left(self) -> int:
        """How many bytes of the answer may still go through the pipe."""
        raise NotImplementedError

    def on_flow(self, count: int) -> None:
        """So many bytes of the answer are in the loop's pipe."""
        raise NotImplementedError

    def on_answer(self, count: int) -> None:
        """So many bytes of the answer are in the loop's buffer."""
        raise NotImplementedError

    def on_answer_end(self) -> None:
        """The worker closed its side of the connection properly."""
        raise NotImplementedError

    def on_worker_gone(self) -> None:
        """The connection failed: it was refused or reset, or closed without an answer."""
        raise NotImplementedError

    def on_worker_late(self) -> None:
        """The worker did not accept, take, begin or go on in time."""
        raise NotImplementedError

    def on_mishap(self) -> None:
        """The connection is given up after a bug of ours, or because the loop ends."""
        raise NotImplementedError
