"""Clients over TLS: a wire as in stage.py, and a client whose every byte the test controls."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

from tests.balancer.authority import issue, trusting
from tests.balancer.stage import PATIENCE, Play, Stage, Wire, stage


@contextlib.contextmanager
def tls_stage(
    folder: Path, *plays: Play, send_buffer: int | None = None, **limits: object
) -> Iterator[Stage]:
    """A stage that speaks TLS and has a certificate for a.org."""
    certificate, key = issue(folder, "a.org")
    secured = {"tls_cert": [certificate], "tls_key": [key], **limits}
    with stage(*plays, send_buffer=send_buffer, **secured) as scene:
        yield scene


def call(scene: Stage, name: str = "a.org", receive_buffer: int | None = None) -> Wire:
    """A TLS client that raises an error when the connection ends without a close_notify."""
    return secured(scene.call(receive_buffer), name)


def secured(wire: Wire, name: str = "a.org") -> Wire:
    """Do a TLS handshake on an open connection."""
    wire.sock = trusting().wrap_socket(wire.sock, server_hostname=name, suppress_ragged_eofs=False)
    return wire


class Hands:
    """A TLS client without a socket of its own: the test decides which bytes go out, and when."""

    def __init__(self, wire: Wire, context: ssl.SSLContext | None = None) -> None:
        self.wire = wire
        self.before = b""  # bytes to send before the ClientHello
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = context or trusting()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="a.org")

    def shake(self, piece: int = 1 << 20) -> bytes:
        """Do the handshake in pieces of this size, and return the last bytes, still unsent."""
        while True:
            try:
                self.tls.do_handshake()
                return self._outgoing.read()
            except ssl.SSLWantReadError:
                self.push(self.before + self._outgoing.read(), piece)
                self.before = b""
                self._take()

    def sealed(self, data: bytes) -> bytes:
        """The TLS records that carry the data."""
        self.tls.write(data)
        return self._outgoing.read()

    def farewell(self) -> bytes:
        """The record with the client's close_notify."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        return self._outgoing.read()

    def push(self, data: bytes, piece: int = 1 << 20) -> None:
        for at in range(0, len(data), piece):
            self.wire.send(data[at : at + piece])

    def read(self, until: bytes) -> bytes:
        """Read up to these bytes, which must be the last bytes received."""
        got = b""
        while not got.endswith(until):
            got += self._read()
        return got

    def trade(self, data: bytes, piece: int, expected: int) -> bytes:
        """Send data in records of at most `piece` bytes while reading `expected` bytes."""
        sock, got, waiting = self.wire.sock, b"", b""
        while len(got) < expected:
            if not waiting and data:
                waiting, data = self.sealed(data[:piece]), data[piece:]
            readable, writable, _ = select.select([sock], [sock] if waiting else [], [], PATIENCE)
            if writable:
                waiting = waiting[sock.send(waiting, socket.MSG_DONTWAIT) :]
            if readable:
                self._take()
                with contextlib.suppress(ssl.SSLWantReadError):
                    while len(got) < expected:
                        got += self.tls.read(65536)
        return got

    def ended(self) -> bool:
        """Wait for a close_notify; False when the connection ended without one."""
        while True:
            try:
                if not self._read():
                    return True
            except (EOFError, ConnectionError):
                return False

    def _read(self) -> bytes:
        while True:
            try:
                return self.tls.read(65536)
            except ssl.SSLWantReadError:
                self._take()
            except ssl.SSLZeroReturnError:
                return b""

    def _take(self) -> None:
        data = self.wire.sock.recv(65536)
        if not data:
            raise EOFError
        self._incoming.write(data)
