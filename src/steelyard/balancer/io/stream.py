"""Stream: a non-blocking socket in the loop, and what it could not send yet."""

from __future__ import annotations

import contextlib
import socket
import struct
from math import inf

from steelyard.balancer.io.loop import IN, OUT, Handler, Loop
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.syscalls import receive, transmit, transmit_both

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with no time: close sends RST


class Layer:
    """Encryption between a stream and its socket (tls.py)."""

    __slots__ = ()

    def receive(self, stream: Stream) -> int:
        """As `Stream.receive`."""
        raise NotImplementedError

    def encrypt(self, stream: Stream, data: Buffer) -> bytes:
        """The bytes to send instead of the data; empty when nothing can be sent any more."""
        raise NotImplementedError

    def finish(self, stream: Stream) -> bool:
        """Tell the peer that no more comes; True when nothing of that is pending any more."""
        raise NotImplementedError


class Stream(Handler):
    """One TCP connection, of a client or to a worker."""

    __slots__ = ("fd", "loop", "mask", "open", "parked", "pending", "sent", "sock", "tls")

    def __init__(self, loop: Loop, sock: socket.socket, mask: int) -> None:
        self.loop = loop
        self.sock = sock
        self.fd = sock.fileno()
        self.mask = mask
        self.pending = bytearray()  # accepted from us, not yet by the kernel
        self.sent = 0  # bytes the kernel took
        self.deadline = inf
        self.open = True
        self.parked = False
        self.tls: Layer | None = None  # between us and the socket, when a client came over TLS
        loop.add(self.fd, self, mask)

    def receive(self) -> int:
        """Bytes now in the loop's buffer; 0: the peer has finished; −1: it is gone.

        −2 is a false alarm: nothing is there.
        """
        if self.tls is not None:
            return self.tls.receive(self)
        return receive(self.fd, self.loop.buffer)

    def send(self, data: Buffer) -> bool:
        """Send, or keep for later; False when the peer is gone."""
        if not len(data):  # compiled, to ask for its truth costs more
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
        """Send one after the other, without copying them together."""
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
        """Send so many bytes that are in the loop's pipe, or keep them for later."""
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
        """Send what was kept; False when the peer is gone."""
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
        """Read no more for now: the other side cannot take it."""
        if self.mask & IN:
            self.watch(self.mask & ~IN)

    def resume(self) -> None:
        """Read again."""
        if not self.mask & IN:
            self.watch(self.mask | IN)

    def watch(self, mask: int) -> None:
        """Wait for these events from now on."""
        if mask == self.mask or not self.open:
            return
        self.mask = mask
        if self.parked:
            self.parked = False
            self.loop.unpark(self.fd, mask)
        else:
            self.loop.watch(self.fd, mask)

    def park(self) -> None:
        """It is broken, but what it holds is not wanted yet: no events until `watch`."""
        self.parked = True
        self.loop.park(self.fd)

    def close(self) -> None:
        """Forget it; the socket is closed when the round is over."""
        if self.open:
            if self.tls is not None and not self.pending:
                self.tls.finish(self)
            self.open = False
            self.loop.drop(self.fd, self.sock)

    def reset(self) -> None:
        """Close so that the peer cannot mistake the end for a proper one."""
        if self.open:
            self.tls = None  # it would tell the peer of a proper end
            with contextlib.suppress(OSError):
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.close()
