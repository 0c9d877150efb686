"""Loopback ports: free ones, and whether a server answers there."""

from __future__ import annotations

import contextlib
import http.client
import random
import socket

HOST = "127.0.0.1"
# Just below the range from which Linux gives out ports to programs that ask for any.
_PORTS = range(30000, 32768)


def free_port() -> int:
    """A port that is free now, and that no program takes by chance before our server does."""
    while True:
        port = random.choice(_PORTS)
        with contextlib.suppress(OSError), socket.socket() as sock:
            sock.bind((HOST, port))
            return port


def accepts(port: int) -> bool:
    """Whether a server listens on this port."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def answers(port: int, path: str = "/") -> bool:
    """Whether a GET is answered with status 200."""
    try:
        return fetch(port, "GET", path).status == 200
    except (OSError, http.client.HTTPException):
        return False


class Fetched:
    """A whole answer."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.via = answer.headers.get("Via", "")
        self.body = answer.read()


def fetch(port: int, method: str, path: str, body: bytes | None = None) -> Fetched:
    """Send one request on a new connection."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request(method, path, body)
        return Fetched(connection.getresponse())
    finally:
        connection.close()
