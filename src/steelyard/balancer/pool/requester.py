"""Requester: the interface of a request for the pool.

The pool chooses a worker for a requester, may let the requester wait for a worker, and lends it a
connection. The connection then reports its events to the requester, by the methods that begin with
`on_`. In a balancer, an exchange is the requester (exchange/exchange.py).
"""

from __future__ import annotations

from steelyard.balancer.pool.sticky import Pin
from steelyard.balancer.pool.worker import Worker


class Requester:
    """The attributes that the pool needs of a request, and the events that the pool reports."""

    __slots__ = ("crowded", "pin", "tried")

    tried: tuple[Worker, ...]  # the workers that have failed this request
    crowded: bool  # a worker was skipped because it had no room
    pin: Pin | None  # the worker of the client's session, with sticky sessions

    @property
    def asker(self) -> bytes:
        """The client's address, for policies with a key and for turns among waiting clients."""
        raise NotImplementedError

    # Called by the waiting requests

    def on_turn(self) -> None:
        """Begin this request: a worker has room."""
        raise NotImplementedError

    def on_wait_over(self) -> None:
        """Refuse this request: no worker had room in time."""
        raise NotImplementedError

    # Called by the connection

    def on_connected(self) -> None:
        """Send the request: the worker accepted the connection."""
        raise NotImplementedError

    def on_worker_writable(self) -> None:
        """Send more of the request: the worker's socket can take more."""
        raise NotImplementedError

    def flows(self) -> bool:
        """Whether the worker's next bytes may go to the client through the pipe, unparsed."""
        raise NotImplementedError

    def left(self) -> int:
        """Return how many bytes of the answer may still go through the pipe."""
        raise NotImplementedError

    def on_flow(self, count: int) -> None:
        """Take `count` bytes of the answer from the loop's pipe."""
        raise NotImplementedError

    def on_answer(self, count: int) -> None:
        """Take `count` bytes of the answer from the loop's buffer."""
        raise NotImplementedError

    def on_answer_end(self) -> None:
        """Handle the end of the answer: the worker closed its side with a FIN."""
        raise NotImplementedError

    def on_worker_gone(self) -> None:
        """Handle a failed connection: it was refused or reset, or closed without an answer."""
        raise NotImplementedError

    def on_worker_late(self) -> None:
        """Handle a missed deadline of the worker: to accept the connection, to take the request,
        to begin the answer or to continue it."""
        raise NotImplementedError

    def on_mishap(self) -> None:
        """Handle the close of the connection after a bug in the balancer or the end of the loop."""
        raise NotImplementedError
