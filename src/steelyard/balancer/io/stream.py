"""Stream: a non-blocking socket in the loop, with the bytes that it could not send yet."""

from __future__ import annotations

import contextlib
import socket
import struct
from math import inf

from steelyard.balancer.io.loop import IN, OUT, Handler, Loop
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.syscalls import receive, transmit, transmit_both

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with a time of 0: close sends a RST


class Layer:
    """The interface of an encryption layer between a stream and its socket (tls.py)."""

    __slots__ = ()

    def receive(self, stream: Stream) -> int:
        """Receive and decrypt; return the same as `Stream.receive`."""
        raise NotImplementedError

    def encrypt(self, stream: Stream, data: Buffer) -> bytes:
        """Return the encrypted data; empty bytes if nothing can be sent any more."""
        raise NotImplementedError

    def finish(self, stream: Stream) -> bool:
        """Tell the peer that no more bytes come; return True if no bytes are pending."""
        raise NotImplementedError


class Stream(Handler):
    """One TCP connection with a client or a worker."""

    __slots__ = ("fd", "loop", "mask", "open", "parked", "pending", "sent", "sock", "tls")

    def __init__(self, loop: Loop, sock: socket.socket, mask: int) -> None:
        self.loop = loop
        self.sock = sock
        self.fd = sock.fileno()
        self.mask = mask
        self.pending = bytearray()  # bytes to send that the kernel has not taken yet
        self.sent = 0  # bytes that the kernel took
        self.deadline = inf
        self.open = True
        self.parked = False
        self.tls: Layer | None = None  # encryption, if the client uses TLS
        loop.add(self.fd, self, mask)

    def receive(self) -> int:
        """Receive into the loop's buffer, and return the number of bytes.

        The result is 0 at the end of the stream, −1 if the peer is gone, and −2 if there is nothing
        to read now.
        """
        if self.tls is not None:
            return self.tls.receive(self)
        return receive(self.fd, self.loop.buffer)

    def send(self, data: Buffer) -> bool:
        """Send data, and keep the rest for later; return False if the peer is gone."""
        if not len(data):  # when compiled, the truth value costs more than the length
            return True
        if self.tls is not None:
            data = self.tls.encrypt(self, data)
            if not data:
                return False
        if self.pending:
            self.pending += data
            return True
        count = transmit(self.fd, data)
        if count < 0:
            return False
        self.sent += count
        if count < len(data):
            self.pending += data[count:]
            self.watch(self.mask | OUT)
        return True

    def send_both(self, first: bytes, second: Buffer) -> bool:
        """Send two pieces of data, joining them only if they must be encrypted or must wait."""
        if self.tls is not None or self.pending:
            return self.send(first + second)
        count = transmit_both(self.fd, first, second)
        if count < 0:
            return False
        self.sent += count
        size = len(first)
        if count < size + len(second):
            self.pending += first[count:]
            self.pending += second[max(0, count - size) :]
            self.watch(self.mask | OUT)
        return True

    def pour(self, count: int) -> bool:
        """Send the `count` bytes in the loop's pipe, and keep the rest for later; return False if
        the peer is gone."""
        loop = self.loop
        sent = loop.pipe.pour(self.fd, count)
        if sent < count:
            left = loop.pipe.spill(loop.buffer)
            if sent < 0:
                return False
            self.pending += loop.view[:left]
            self.watch(self.mask | OUT)
        self.sent += sent
        return True

    def flush(self) -> bool:
        """Send pending bytes; return False if the peer is gone."""
        count = transmit(self.fd, self.pending)
        if count < 0:
            return False
        self.sent += count
        if count < len(self.pending):
            del self.pending[:count]
        else:
            self.pending.clear()
            self.watch(self.mask & ~OUT)
        return True

    def pause(self) -> None:
        """Stop reading for now."""
        if self.mask & IN:
            self.watch(self.mask & ~IN)

    def resume(self) -> None:
        """Read again."""
        if not self.mask & IN:
            self.watch(self.mask | IN)

    def watch(self, mask: int) -> None:
        """Wait for the events in `mask` from now on."""
        if mask == self.mask or not self.open:
            return
        self.mask = mask
        if self.parked:
            self.parked = False
            self.loop.unpark(self.fd, mask)
        else:
            self.loop.watch(self.fd, mask)

    def park(self) -> None:
        """Stop all events of a broken connection until `watch`; its bytes are not wanted yet."""
        self.parked = True
        self.loop.park(self.fd)

    def close(self) -> None:
        """Leave the loop, which closes the socket after the present round."""
        if self.open:
            if self.tls is not None and not self.pending:
                self.tls.finish(self)
            self.open = False
            self.loop.drop(self.fd, self.sock)

    def reset(self) -> None:
        """Close with a RST, so that the peer cannot mistake the end for a regular one."""
        if self.open:
            self.tls = None  # no close_notify, which would announce a regular end
            with contextlib.suppress(OSError):
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.close()
