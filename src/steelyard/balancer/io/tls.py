"""Tls: the encryption layer between a stream and its socket, for clients that use TLS.

OpenSSL encrypts and decrypts between two buffers in memory; the balancer itself reads and writes
the socket (docs/decisions, 11). The stream works as without TLS:

* `receive` always returns all bytes that can be decrypted, so no bytes stay in a buffer for which
  no event would come. The loop's buffer is larger than the bytes that one call can decrypt.
* `pending` holds encrypted bytes, which count for back-pressure like any other bytes.
* `sent` + `pending` is the number of bytes before encryption.
* The peer's close_notify is the end of its stream, like a FIN.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator

from steelyard.balancer.io.loop import OUT
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.stream import Layer, Stream

RECORD = 16 * 1024  # the largest payload of a record (RFC 8446, 5.1)
# Bytes per receive. Together with the rest of an unfinished record, they fit into the loop's
# buffer. OpenSSL's own buffers never shrink: after a larger receive, a connection would keep a
# larger buffer until its end.
RECEIVE = RECORD
# A client is dropped when more bytes than this are pending for it while OpenSSL adds messages of
# its own (alerts, key updates), because the client does not read.
FLOOD = 64 * 1024


class Tls(Layer):
    """The encryption of one connection."""

    __slots__ = ("_ended", "_finished", "_incoming", "_outgoing", "_ssl")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._ssl = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ended = False  # the client will send no more
        self._finished = False  # we have sent our close_notify

    def shake(self, stream: Stream, data: Buffer) -> bool:
        """Continue the handshake; return True when it is complete. Raise SSLError if it fails."""
        self._incoming.write(data)
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self._tell(stream)
        return True

    def receive(self, stream: Stream) -> int:
        """Receive and decrypt into the loop's buffer; return the same as `Stream.receive`."""
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
        """Return the encrypted data; empty bytes if nothing can be sent any more."""
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
        """Send a close_notify; return True if no bytes are pending."""
        if not self._finished:
            self._finished = True
            with contextlib.suppress(ssl.SSLError):  # the client's close_notify is missing
                self._ssl.unwrap()
            self._tell(stream)
        return not stream.pending

    def _records(self, data: memoryview) -> Iterator[bytes]:
        """Yield the encrypted records one at a time, to keep OpenSSL's buffer small."""
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
        except ssl.SSLZeroReturnError:  # comes instead of size 0 after our own close_notify
            return self._end(stream, count)
        return count or -2

    def _end(self, stream: Stream, count: int) -> int:
        """Handle the client's close_notify; return the `count` bytes before it first.

        If there are such bytes, the kernel must report the stream as readable again, so that the
        next `receive` returns the end; SHUT_RD makes the kernel do so.
        """
        self._ended = True
        if count:
            with contextlib.suppress(OSError):
                stream.sock.shutdown(socket.SHUT_RD)
        return count

    def _tell(self, stream: Stream) -> None:
        """Send the messages that OpenSSL makes by itself, without counting them as sent."""
        words = self._outgoing.read()
        if not words:
            return
        stream.sent -= len(words)
        waiting = bool(stream.pending)
        stream.pending += words
        if waiting or not stream.flush():  # the next event tells if the client is gone
            return
        if stream.pending:
            stream.watch(stream.mask | OUT)
