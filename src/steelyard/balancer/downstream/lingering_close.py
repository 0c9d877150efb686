"""LingeringClose: a connection that ends by our will is closed in two steps (RFC 9112, 9.6).

We have stopped sending; what still comes is read and forgotten, because closing with unread bytes
makes the kernel send a reset, which can destroy the answer on its way. This handler takes the
client's place in the loop until the client has closed too, or has had its time.
"""

from __future__ import annotations

import socket

from steelyard.balancer.io.loop import IN, Handler
from steelyard.balancer.io.stream import Stream

PAUSE = 2.0  # without a byte or the client's own close
WHOLE = 30.0


class LingeringClose(Handler):
    """Reads a client's connection to its end."""

    __slots__ = ("_client", "_last")

    def __init__(self, client: Stream) -> None:
        now = client.loop.now
        self._client = client
        self._last = now + WHOLE
        self.deadline = client.deadline = now + PAUSE
        client.loop.replace(client.fd, self)
        try:
            client.sock.shutdown(socket.SHUT_WR)
        except OSError:
            client.close()
        else:
            client.resume()

    def on_event(self, mask: int) -> None:
        client = self._client
        count = client.receive() if mask & IN else -1
        if count > 0:
            self.deadline = min(self._last, client.loop.now + PAUSE)
        elif count != -2:
            client.close()

    def expire(self) -> None:
        self._client.close()

    def abort(self) -> None:
        self._client.close()
