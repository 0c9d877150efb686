"""Connections that ask once and then stay idle: the memory that each one costs the proxy."""

from __future__ import annotations

import socket
import struct
from types import TracebackType

from steelyard.bench.balancer.cases import SMALL
from steelyard.bench.ports import HOST

_REQUEST = f"GET /{SMALL} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: close without TIME_WAIT, or ports would run out


class Crowd:
    """Open connections; a context manager that closes them."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._count = count
        self._open: list[socket.socket] = []
        self.errors = 0

    def __enter__(self) -> Crowd:
        try:
            for _ in range(self._count):
                self._join()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: object, ___: TracebackType | None
    ) -> None:
        self._leave()

    def __len__(self) -> int:
        return len(self._open)

    def gone(self) -> int:
        """How many of the connections the proxy has closed."""
        return sum(_is_closed(sock) for sock in self._open)

    def _join(self) -> None:
        try:
            sock = socket.create_connection((HOST, self._port), timeout=10)
        except OSError:
            self.errors += 1
            return
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._open.append(sock)
        self.errors += not _asked(sock)

    def _leave(self) -> None:
        for sock in self._open:
            sock.close()


def _asked(sock: socket.socket) -> bool:
    try:
        sock.sendall(_REQUEST)
        received = b""
        while not received.endswith(b"x" * SMALL):
            piece = sock.recv(4096)
            if not piece:
                return False
            received += piece
    except OSError:
        return False
    return received.startswith(b"HTTP/1.1 200")


def _is_closed(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return sock.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
