"""Our own answers: what a client gets when no worker's answer can be had."""

from __future__ import annotations

from email.utils import formatdate
from http import HTTPStatus

# A worker is usually started, or found again, within a few probes.
RETRY_AFTER = 1


def refusal(
    status: int, reason: str, *, keep: bool, bodiless: bool = False, request_id: bytes = b""
) -> bytes:
    """A whole answer, a sentence long; `bodiless` when it answers a HEAD."""
    phrase = HTTPStatus(status).phrase
    body = f"{status} {phrase}: {reason}\n".encode()
    lines = [
        f"HTTP/1.1 {status} {phrase}",
        f"Date: {formatdate(usegmt=True)}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Server: steelyard",
    ]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        lines.append(f"Retry-After: {RETRY_AFTER}")
    if request_id:
        lines.append(f"X-Request-ID: {request_id.decode()}")
    # HTTP/1.0 clients need to be told that a connection stays; the others do not mind.
    lines.append(f"Connection: {'keep-alive' if keep else 'close'}")
    head = "\r\n".join((*lines, "", "")).encode()
    return head if bodiless else head + body
