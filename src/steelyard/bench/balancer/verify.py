"""Checks that a contender does what all must do: a proxy that does less cannot be compared."""

from __future__ import annotations

import http.client
import socket

from steelyard.bench.balancer.backend import FIELDS_PATH
from steelyard.bench.balancer.cases import Case, Kind
from steelyard.bench.balancer.frames import END_OF_HEAD, FROM_CLIENT, FROM_SERVER, HANDSHAKE
from steelyard.bench.ports import HOST, fetch


def fault(case: Case, port: int) -> str:
    """What is wrong with the proxy on this port; empty if nothing is."""
    try:
        return _tunnel_fault(port) if case.kind is Kind.WEBSOCKET else _http_fault(case, port)
    except (OSError, http.client.HTTPException) as error:
        return f"failed: {error or type(error).__name__}"


def _http_fault(case: Case, port: int) -> str:
    answer = fetch(port, case.method, case.path, b"x" * case.upload if case.upload else None)
    if answer.status != 200:
        return f"answers {answer.status}"
    if answer.body != b"x" * case.size:
        return f"sends {len(answer.body)} bytes instead of {case.size}"
    added = fetch(port, "GET", FIELDS_PATH)
    names = ("X-Forwarded-For", "X-Forwarded-Proto", "Via")
    lacks = [n for n, v in zip(names, added.body.split(b"|"), strict=False) if not v]
    if lacks or not added.via:
        return f"does not add {', '.join(lacks) or 'Via to answers'}"
    return ""


def _tunnel_fault(port: int) -> str:
    with socket.create_connection((HOST, port), timeout=5) as sock:
        sock.sendall(HANDSHAKE)
        head = _until(sock, END_OF_HEAD)
        if not head.startswith(b"HTTP/1.1 101"):
            return "not supported yet"
        sock.sendall(FROM_CLIENT)
        return "" if _until(sock, FROM_SERVER) else "does not carry messages"


def _until(sock: socket.socket, end: bytes) -> bytes:
    received = b""
    while end not in received:
        piece = sock.recv(4096)
        if not piece:
            return b""
        received += piece
    return received
