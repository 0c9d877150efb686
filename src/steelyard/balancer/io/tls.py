"""Tls: the layer between a stream and its socket, for clients that came over TLS.

OpenSSL does the cryptography between two buffers in memory, the socket stays ours (docs/decisions,
11). To the stream it looks as if there were no TLS at all:

* `receive` gives out all that can be decrypted, every time: nothing is ever left in a buffer
  that no event would tell of. The loop's buffer is larger than what one call can decrypt.
* `pending` holds what is encrypted already, and counts for back-pressure like any other bytes.
* `sent` + `pending` count the bytes that were to be sent, not what became of them.
* The other side's close_notify is the end of its stream, as a FIN is.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator

from steelyard.balancer.io.loop import OUT
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.stream import Layer, Stream

RECORD = 16 * 1024  # the largest there is (RFC 8446, 5.1)
# One receive: with the rest of an unfinished record it fits into the loop's buffer. OpenSSL's own
# buffers never shrink: a connection would keep the room for a larger one for good.
RECEIVE = RECORD
# What OpenSSL says by itself (alerts, new keys) to a client that does not read it.
FLOOD = 64 * 1024


class Tls(Layer):
    """One connection's encryption."""

    __slots__ = ("_ended", "_finished", "_incoming", "_outgoing", "_ssl")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._ssl = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ended = False  # the client will send no more
        self._finished = False  # we have told it that we will not, either

    def shake(self, stream: Stream, data: Buffer) -> bool:
        """Go on with the handshake; True when it is over. Raises SSLError when it failed."""
        self._incoming.write(data)
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._tell(stream)
        return True

    def receive(self, stream: Stream) -> int:
        """As `Stream.receive`: bytes now in the loop's buffer, or why there are none."""
        if self._ended:
            return 0
        loop = stream.loop
        try:
            count = stream.sock.recv_into(loop.buffer, RECEIVE)
        except BlockingIOError:
            count = -2
        except OSError:
            return -1
        if count > 0:
            self._incoming.write(loop.view[:count])
        elif not self._incoming.pending:
            return count
        try:
            found = self._decrypt(stream)
        except ssl.SSLError:
            found = -1
        if self._outgoing.pending:
            self._tell(stream)
            if len(stream.pending) > FLOOD:
                found = -1
        return count if found == -2 and count <= 0 else found

    def encrypt(self, stream: Stream, data: Buffer) -> bytes:
        """What to send instead of the data; empty when nothing can be sent any more."""
        size = len(data)
        try:
            if size <= RECORD:
                self._ssl.write(data)
                out = self._outgoing.read()
            else:
                out = b"".join(self._records(memoryview(data)))
        except ssl.SSLError:
            return b""
        stream.sent -= len(out) - size
        return out

    def finish(self, stream: Stream) -> bool:
        """Say that no more comes (close_notify); True when nothing is pending any more."""
        if not self._finished:
            self._finished = True
            with contextlib.suppress(ssl.SSLError):  # it wants the client's own, which may come
                self._ssl.unwrap()
            self._tell(stream)
        return not stream.pending

    def _records(self, data: memoryview) -> Iterator[bytes]:
        """One at a time, to keep OpenSSL's buffer small."""
        for at in range(0, len(data), RECORD):
            self._ssl.write(data[at : at + RECORD])
            yield self._outgoing.read()

    def _decrypt(self, stream: Stream) -> int:
        view, count = stream.loop.view, 0
        try:
            while self._incoming.pending:
                size: int = self._ssl.read(RECEIVE, view[count:])  # type: ignore[assignment]
                if not size:
                    return self._end(stream, count)
                count += size
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:  # instead of a size of 0, when we have said it before
            return self._end(stream, count)
        return count or -2

    def _end(self, stream: Stream, count: int) -> int:
        """The client's last word, perhaps behind some bytes: they are given out first.

        Then the kernel must say again that there is something to read, which it does from now on.
        """
        self._ended = True
        if count:
            with contextlib.suppress(OSError):
                stream.sock.shutdown(socket.SHUT_RD)
        return count

    def _tell(self, stream: Stream) -> None:
        """Send what OpenSSL has to say by itself; it is not counted as sent."""
        words = self._outgoing.read()
        if not words:
            return
        stream.sent -= len(words)
        waiting = bool(stream.pending)
        stream.pending += words
        if waiting or not stream.flush():  # a client that is gone shows itself with the next event
            return
        if stream.pending:
            stream.watch(stream.mask | OUT)
