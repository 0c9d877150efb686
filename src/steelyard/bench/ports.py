"""Loopback ports: free ones, and whether somebody answers."""

from __future__ import annotations

import contextlib
import http.client
import random
import socket

HOST = "127.0.0.1"
# Just below the range from which Linux serves everybody who asks for any port.
_PORTS = range(30000, 32768)


def free_port() -> int:
    """A port that nobody has now, nor takes by chance before the server that it is for."""
    while True:
        port = random.choice(_PORTS)
        with contextlib.suppress(OSError), socket.socket() as sock:
            sock.bind((HOST, port))
            return port


def accepts(port: int) -> bool:
    """Whether somebody listens."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def answers(port: int, path: str = "/") -> bool:
    """Whether a GET is answered 200."""
    try:
        return fetch(port, "GET", path).status == 200
    except (OSError, http.client.HTTPException):
        return False


class Fetched:
    """An answer, whole."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.via = answer.headers.get("Via", "")
        self.body = answer.read()


def fetch(port: int, method: str, path: str, body: bytes | None = None) -> Fetched:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request(method, path, body)
        return Fetched(connection.getresponse())
    finally:
        connection.close()
