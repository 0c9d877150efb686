"""Clients over TLS: a wire as in stage.py, and one whose every byte is in the test's hands."""

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
    """A stage that is for a.org and speaks TLS."""
    certificate, key = issue(folder, "a.org")
    secured = {"tls_cert": [certificate], "tls_key": [key], **limits}
    with stage(*plays, send_buffer=send_buffer, **secured) as scene:
        yield scene


def call(scene: Stage, name: str = "a.org", receive_buffer: int | None = None) -> Wire:
    """A client that notices when the other side ends without a farewell."""
    return secured(scene.call(receive_buffer), name)


def secured(wire: Wire, name: str = "a.org") -> Wire:
    """Shake hands on an open connection."""
    wire.sock = trusting().wrap_socket(wire.sock, server_hostname=name, suppress_ragged_eofs=False)
    return wire


class Hands:
    """A client's TLS with both its ends loose: what goes where, and when, is up to the test."""

    def __init__(self, wire: Wire, context: ssl.SSLContext | None = None) -> None:
        self.wire = wire
        self.before = b""  # goes out in front of the first words
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = context or trusting()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="a.org")

    def shake(self, piece: int = 1 << 20) -> bytes:
        """Shake hands in pieces of this size; gives back the last of it, not yet sent."""
        while True:
            try:
                self.tls.do_handshake()
                return self._outgoing.read()
            except ssl.SSLWantReadError:
                self.push(self.before + self._outgoing.read(), piece)
                self.before = b""
                self._take()

    def sealed(self, data: bytes) -> bytes:
        """The records that carry the data."""
        self.tls.write(data)
        return self._outgoing.read()

    def farewell(self) -> bytes:
        """The record that says that no more comes."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        return self._outgoing.read()

    def push(self, data: bytes, piece: int = 1 << 20) -> None:
        for at in range(0, len(data), piece):
            self.wire.send(data[at : at + piece])

    def read(self, until: bytes) -> bytes:
        """What comes up to this, which must be its end."""
        got = b""
        while not got.endswith(until):
            got += self._read()
        return got

    def trade(self, data: bytes, piece: int, expected: int) -> bytes:
        """Send in records of at most so many bytes while reading as many as are expected."""
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
        """Wait for the other side's farewell; False when the connection ended without."""
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
