"""Field lines of heads and trailers: their strict form, and what each name means to a balancer.

Most names mean nothing to us (PLAIN): their lines are forwarded byte for byte, in order. The
others frame the message, belong to one connection only, or are ones we add to.
"""

from __future__ import annotations

from steelyard.errors import MalformedError

PLAIN = 0
HOP = 1  # belongs to one connection (RFC 9110, 7.6.1): never forwarded
HOST = 2
LENGTH = 3
CODING = 4
CONNECTION = 5
EXPECT = 6
UPGRADE = 7
# From here on: what a client claims about where its request came from.
FORWARDED_FOR = 8
FORWARDED_PROTO = 9
FORWARDED_HOST = 10
FORWARDED = 11
REQUEST_ID = 12

TOKEN = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Not even in a field value; CR and LF are looked at apart, where lines are split.
CONTROLS = bytes(code for code in range(32) if code not in b"\t\r\n") + b"\x7f"
DASHES = bytes.maketrans(b"_", b"-")

SPECIAL: dict[bytes, int] = {
    b"host": HOST,
    b"content-length": LENGTH,
    b"transfer-encoding": CODING,
    b"connection": CONNECTION,
    b"expect": EXPECT,
    b"x-forwarded-for": FORWARDED_FOR,
    b"x-forwarded-proto": FORWARDED_PROTO,
    b"x-forwarded-host": FORWARDED_HOST,
    b"forwarded": FORWARDED,
    b"x-request-id": REQUEST_ID,
    b"keep-alive": HOP,
    b"proxy-connection": HOP,
    b"proxy-authenticate": HOP,
    b"proxy-authorization": HOP,
    b"te": HOP,
    b"http2-settings": HOP,
    b"upgrade": UPGRADE,
}

_COMMON = (
    b"Accept Accept-Encoding Accept-Language Accept-Ranges Access-Control-Allow-Origin Age "
    b"Authorization Cache-Control Content-Disposition Content-Encoding Content-Language "
    b"Content-Range Content-Type Cookie DNT Date ETag Expires If-Match If-Modified-Since "
    b"If-None-Match If-Range If-Unmodified-Since Last-Modified Link Location Origin Pragma "
    b"Priority Range Referer Retry-After Sec-CH-UA Sec-CH-UA-Mobile Sec-CH-UA-Platform "
    b"Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Server Set-Cookie "
    b"Strict-Transport-Security Upgrade-Insecure-Requests User-Agent Vary Via "
    b"X-Content-Type-Options X-Frame-Options X-Powered-By X-Requested-With"
).split()


def _spellings() -> dict[bytes, int]:
    known = {name: PLAIN for common in _COMMON for name in (common, common.lower())}
    for name, kind in SPECIAL.items():
        known[name] = known[name.title()] = kind
    known[b"X-Request-ID"] = REQUEST_ID
    return known


# Names as they are usually spelled: one look-up instead of a check of every character.
KINDS: dict[bytes, int] = _spellings()


class BadMessageError(MalformedError):
    """A message we refuse to forward; `status` is what a client is told when it is a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def classify(name: bytes) -> int:
    """What a field name of unusual spelling means; refuses what is no token (RFC 9110, 5.1)."""
    if not name or name.translate(None, TOKEN):
        raise BadMessageError(400, f"bad field name {name[:40]!r}")
    lower = name.lower()
    if b"_" in lower and lower.translate(DASHES) in SPECIAL:
        # CGI and WSGI servers cannot tell Content_Length from Content-Length.
        raise BadMessageError(400, f"ambiguous field name {name[:40]!r}")
    return SPECIAL.get(lower, PLAIN)


def content_length(value: bytes, before: int) -> int:
    """The one declared length; a second field is refused even when it agrees."""
    value = value.strip(b" \t")
    if before >= 0:
        raise BadMessageError(400, "more than one Content-Length")
    if not value.isdigit() or len(value) > 18:
        raise BadMessageError(400, f"bad Content-Length {value[:40]!r}")
    return int(value)


def length_line(line: bytes, value: bytes, length: int) -> bytes:
    """The line to forward: without leading zeros, which some readers take for octal."""
    if length and value.lstrip(b" \t").startswith(b"0"):
        return b"Content-Length: %d" % length
    return line


def transfer_coding(value: bytes, before: bool) -> bool:
    """True; the only transfer coding there is on a connection of ours is `chunked`, once."""
    if before or value.strip(b" \t").lower() != b"chunked":
        raise BadMessageError(400, "a Transfer-Encoding other than chunked")
    return True


_USUAL: dict[bytes, list[bytes]] = {
    b" keep-alive": [b"keep-alive"],
    b" Keep-Alive": [b"keep-alive"],
    b" close": [b"close"],
}


def connection_options(value: bytes) -> list[bytes]:
    """What a Connection field lists, in lower case."""
    usual = _USUAL.get(value)
    if usual is not None:
        return usual
    options = [option.strip(b" \t") for option in value.lower().split(b",")]
    for option in options:
        if option.translate(None, TOKEN):
            raise BadMessageError(400, f"bad connection option {option[:40]!r}")
        if option in (b"host", b"content-length"):
            # Dropping what routes or frames a message would change its meaning downstream.
            raise BadMessageError(400, f"connection option names {option.decode()}")
    return [option for option in options if option]


def upgrade_offer(value: bytes) -> list[bytes]:
    """The protocols that an Upgrade field lists (RFC 9110, 7.8), without HTTP/2.

    `h2c` is never passed on: what follows on such a connection are requests that no balancer
    reads, which is how they are smuggled past one (RFC 9113, 3.1 has abandoned it).
    """
    protocols = [protocol.strip(b" \t") for protocol in value.split(b",")]
    for protocol in protocols:
        if protocol.translate(None, TOKEN + b"/") or protocol.count(b"/") > 1:
            raise BadMessageError(400, f"bad protocol {protocol[:40]!r} in Upgrade")
    return [name for name in protocols if name and name.lower().partition(b"/")[0] != b"h2c"]


def without(lines: list[bytes], names: list[bytes]) -> list[bytes]:
    """The lines whose names are not among those that a Connection field listed."""
    gone = frozenset(names)  # a client may name thousands
    return [line for line in lines if line.partition(b":")[0].lower() not in gone]


def trailer_lines(lines: list[bytes]) -> list[bytes]:
    """The trailers that may travel on: those that neither route nor belong to a connection.

    Ones that frame are refused: a reader that merges trailers would see another message.
    """
    kept = []
    for line in lines:
        name, colon, _ = line.partition(b":")
        if not colon:
            raise BadMessageError(400, "a trailer without a colon")
        kind = classify(name)
        if kind == PLAIN:
            kept.append(line)
        elif kind in (LENGTH, CODING):
            raise BadMessageError(400, f"a trailer that frames: {name.decode()}")
    return kept
