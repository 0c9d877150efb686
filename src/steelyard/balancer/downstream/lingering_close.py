"""LingeringClose: closes a connection in two steps, when the balancer ends it (RFC 9112, 9.6).

First the balancer shuts down its sending side. Then this handler reads and discards the client's
bytes, because a close with unread bytes makes the kernel send a reset, which can destroy an answer
on its way. The handler replaces the client in the loop until the client has closed too, or until
a time limit is over.
"""

from __future__ import annotations

import socket

from steelyard.balancer.io.loop import IN, Handler
from steelyard.balancer.io.stream import Stream

PAUSE = 2.0  # seconds without a byte from the client or its close
WHOLE = 30.0


class LingeringClose(Handler):
    """Reads and discards a client's bytes until the client closes."""

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
