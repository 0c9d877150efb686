"""Sticky: keeps a client's session with one worker, by a cookie.

The cookie contains a keyed digest (HMAC) of the worker's name. Without the secret, nobody can forge
a cookie or learn a worker's name from one. The balancer looks the digest up among the digests of
the workers that serve. A cookie that is not found (forged, garbled, of a worker that left) counts
as no cookie. All processes with the same secret make the same cookies.

Only the client and the balancer see the cookie: it is removed from the request for the worker (as
with `indirect` of HAProxy). The worker gets all other cookies unchanged. Quotes have no meaning in
a Cookie field (RFC 6265, 4.2.2 and 5.4).
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path

from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.pool.worker import Worker
from steelyard.config.settings import Gateway
from steelyard.errors import UsageError

DIGEST = 16  # bytes: 128 bits cannot be guessed
LEAST_SECRET = 16  # bytes


class Sticky:
    """The cookies of all workers that serve now. The object belongs to the data thread."""

    __slots__ = ("_name", "_names", "_secret", "_workers")

    def __init__(self, name: bytes, secret: bytes) -> None:
        self._name = name
        self._secret = secret
        self._names: dict[Worker, bytes] = {}
        self._workers: dict[bytes, Worker] = {}

    def serve(self, workers: Iterable[Worker]) -> None:
        """Set the workers that can have sessions."""
        known = self._names
        self._names = {
            worker: known.get(worker) or digest(self._secret, worker.name) for worker in workers
        }
        self._workers = {name: worker for worker, name in self._names.items()}

    def read(self, head: RequestHead, secure: bool) -> Pin:
        """Remove our cookie from a request, and return the session's pin."""
        text, value = without_cookie(head.text, self._name)
        head.rewrite(text)
        return Pin(self, self._workers.get(value), secure)

    def line(self, worker: Worker, secure: bool) -> bytes:
        """Return the fields that set the client's cookie and keep caches from sharing it."""
        name = self._names.get(worker)
        if name is None:  # the worker has left since it was chosen
            return b""
        last = b"; Secure" if secure else b""
        cookie = b"%b=%b; Path=/; HttpOnly; SameSite=Lax%b" % (self._name, name, last)
        return b"\r\nSet-Cookie: %b\r\nCache-Control: private" % cookie


class Pin:
    """The session of one request, and its worker."""

    __slots__ = ("_secure", "_sticky", "home")

    def __init__(self, sticky: Sticky, home: Worker | None, secure: bool) -> None:
        self._sticky = sticky
        self._secure = secure
        self.home = home  # the session's worker; None: the worker that gets the request

    def goes_to(self, worker: Worker) -> bytes:
        """Return the answer fields to add when this worker gets the request. A worker that only
        substitutes for a full one does not get the session."""
        return b"" if self.home is not None else self._sticky.line(worker, self._secure)


def make_sticky(settings: Gateway) -> Sticky | None:
    """Return the sticky sessions, or None if the settings do not enable them."""
    if settings.sticky == "off":
        return None
    path = settings.sticky_secret
    secret = secrets.token_bytes(LEAST_SECRET) if path is None else read_secret(path)
    return Sticky(settings.sticky_cookie.encode(), secret)


def digest(secret: bytes, name: str) -> bytes:
    """Return the digest of a worker's name, which nobody can compute without the secret."""
    whole = hmac.digest(secret, name.encode(), "sha256")
    return urlsafe_b64encode(whole[:DIGEST]).rstrip(b"=")


def without_cookie(text: bytes, name: bytes) -> tuple[bytes, bytes]:
    """Return a head without the cookies of this name, and the value of the first of them."""
    if name not in text:
        return text, b""
    kept: list[bytes] = []
    values: list[bytes] = []
    for line in text.split(b"\r\n"):
        if line[:7].lower() != b"cookie:":
            kept.append(line)
            continue
        pairs = line[7:].split(b";")
        others = [pair for pair in pairs if _name(pair) != name]
        values += [pair.partition(b"=")[2] for pair in pairs if _name(pair) == name]
        if len(others) == len(pairs):
            kept.append(line)
        elif any(pair.strip(b" \t") for pair in others):
            kept.append(line[:7] + b";".join(others))
    return b"\r\n".join(kept), values[0].strip(b" \t") if values else b""


def _name(pair: bytes) -> bytes:
    name, equals, _ = pair.partition(b"=")
    return name.strip(b" \t") if equals else b""


def read_secret(path: Path) -> bytes:
    """Read the secret that signs the cookies."""
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise UsageError(
            f"the secret of sticky sessions at {path} cannot be read: {error.strerror}",
            hint="see gateway.sticky_secret",
        ) from error
    if len(secret) < LEAST_SECRET:
        raise UsageError(
            f"the secret of sticky sessions at {path} is shorter than {LEAST_SECRET} bytes",
            hint="`openssl rand -hex 32` writes a good one",
        )
    return secret
