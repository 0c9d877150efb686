"""Sticky: a client's session stays with one worker, by a cookie.

The cookie names the worker by a keyed digest (HMAC) of its name: nobody without the secret can
make one or learn a name from one, and to read one is to look it up among those of the workers
that serve. What is not found there (forged, garbled, of a worker that left) is as good as none.
Every process with the same secret makes the same cookies.

The cookie is between the client and us: a worker does not see it (HAProxy: `indirect`), and gets
all other cookies byte for byte. Quotes mean nothing in a Cookie field (RFC 6265, 4.2.2 and 5.4).
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

DIGEST = 16  # bytes: 128 bits are not guessed
LEAST_SECRET = 16  # bytes


class Sticky:
    """The cookies of all workers that serve now. Belongs to the data thread."""

    __slots__ = ("_name", "_names", "_secret", "_workers")

    def __init__(self, name: bytes, secret: bytes) -> None:
        self._name = name
        self._secret = secret
        self._names: dict[Worker, bytes] = {}
        self._workers: dict[bytes, Worker] = {}

    def serve(self, workers: Iterable[Worker]) -> None:
        """These are the workers that sessions can be with."""
        known = self._names
        self._names = {
            worker: known.get(worker) or digest(self._secret, worker.name) for worker in workers
        }
        self._workers = {name: worker for worker, name in self._names.items()}

    def read(self, head: RequestHead, secure: bool) -> Pin:
        """Take our cookie out of a request, and tell whose session it is."""
        text, value = without_cookie(head.text, self._name)
        head.rewrite(text)
        return Pin(self, self._workers.get(value), secure)

    def line(self, worker: Worker, secure: bool) -> bytes:
        """The fields that give a client its cookie, and keep caches from giving it to others."""
        name = self._names.get(worker)
        if name is None:  # it has left since it was chosen
            return b""
        last = b"; Secure" if secure else b""
        cookie = b"%b=%b; Path=/; HttpOnly; SameSite=Lax%b" % (self._name, name, last)
        return b"\r\nSet-Cookie: %b\r\nCache-Control: private" % cookie


class Pin:
    """Where one request's session is."""

    __slots__ = ("_secure", "_sticky", "home")

    def __init__(self, sticky: Sticky, home: Worker | None, secure: bool) -> None:
        self._sticky = sticky
        self._secure = secure
        self.home = home  # None: whoever answers becomes it

    def goes_to(self, worker: Worker) -> bytes:
        """The fields for the client when this worker is asked. A worker that only stands in for a
        full one does not get the session."""
        return b"" if self.home is not None else self._sticky.line(worker, self._secure)


def make_sticky(settings: Gateway) -> Sticky | None:
    """None when sessions are not asked for: then they cost nothing."""
    if settings.sticky == "off":
        return None
    path = settings.sticky_secret
    secret = secrets.token_bytes(LEAST_SECRET) if path is None else read_secret(path)
    return Sticky(settings.sticky_cookie.encode(), secret)


def digest(secret: bytes, name: str) -> bytes:
    """A worker's name as only we can write it."""
    whole = hmac.digest(secret, name.encode(), "sha256")
    return urlsafe_b64encode(whole[:DIGEST]).rstrip(b"=")


def without_cookie(text: bytes, name: bytes) -> tuple[bytes, bytes]:
    """A head without the cookie of this name, and its value; of several, the first's."""
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
    """What signs the cookies."""
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
