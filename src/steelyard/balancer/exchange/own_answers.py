"""Our own answers: the balancer answers when no worker can, and when a request is for itself."""

from __future__ import annotations

from http import HTTPStatus

# A worker is usually started, or found again, within a few probes.
RETRY_AFTER = 1
# The methods that the gateway forwards. Only a worker knows which of them a target allows.
ALLOWED = "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH"


def refusal(
    status: int,
    reason: str,
    date: bytes,
    *,
    keep: bool,
    bodiless: bool = False,
    request_id: bytes = b"",
) -> bytes:
    """Return a complete answer with one sentence as its body; `bodiless` omits the body (HEAD)."""
    body = f"{status} {HTTPStatus(status).phrase}: {reason}\n".encode()
    lines = ["Content-Type: text/plain; charset=utf-8", f"Content-Length: {len(body)}"]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        lines.append(f"Retry-After: {RETRY_AFTER}")
    head = _head(status, date, lines, keep, request_id)
    return head if bodiless else head + body


def options(date: bytes, *, keep: bool, request_id: bytes) -> bytes:
    """Return the answer to an OPTIONS request that is addressed to the balancer."""
    return _head(200, date, [f"Allow: {ALLOWED}", "Content-Length: 0"], keep, request_id)


def _head(status: int, date: bytes, lines: list[str], keep: bool, request_id: bytes) -> bytes:
    lines.append("Server: steelyard")
    if request_id:
        lines.append(f"X-Request-ID: {request_id.decode()}")
    # HTTP/1.0 clients close unless an answer says keep-alive; it does not harm HTTP/1.1.
    lines.append(f"Connection: {'keep-alive' if keep else 'close'}")
    start = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode() + date
    return b"\r\n".join((start, *(line.encode() for line in lines), b"", b""))
