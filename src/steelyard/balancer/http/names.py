"""Names: the kinds of field names that a balancer treats in special ways.

Most names have no meaning for a balancer (PLAIN): it forwards their lines unchanged and in order.
The other fields frame the message, belong to one connection only, or tell the request's origin, to
which the balancer adds.
"""

from __future__ import annotations

PLAIN = 0
HOP = 1  # belongs to one connection (RFC 9110, 7.6.1): never forwarded
HOST = 2
LENGTH = 3
CODING = 4
CONNECTION = 5
EXPECT = 6
UPGRADE = 7
DATE = 8
MAX_FORWARDS = 9
# The kinds from here on are claims of a client about the origin of its request.
FORWARDED_FOR = 10
FORWARDED_PROTO = 11
FORWARDED_HOST = 12
FORWARDED = 13
REQUEST_ID = 14
PROXY = 15  # any other field that only a proxy has reason to send

# Most requests have one of these two methods; they are compared by identity.
GET = b"GET"
POST = b"POST"
# The usual options of a Connection field.
KEEP_ALIVE = [b"keep-alive"]
CLOSE = [b"close"]

SPECIAL: dict[bytes, int] = {
    b"host": HOST,
    b"content-length": LENGTH,
    b"transfer-encoding": CODING,
    b"connection": CONNECTION,
    b"expect": EXPECT,
    b"date": DATE,
    b"max-forwards": MAX_FORWARDS,
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

# Every field whose name begins with this prefix is a proxy's field.
PREFIX = b"x-forwarded-"
# Frameworks and their libraries also trust these fields, which do not have that prefix. They tell
# the client's address (the npm package request-ip lists them), its scheme and host, and the target
# (Symfony, IIS, gunicorn's `forwarder_headers`, whose names have an underscore).
SPECIAL |= dict.fromkeys(
    (
        b"cf-connecting-ip",
        b"cf-connecting-ipv6",
        b"cf-pseudo-ipv4",
        b"cf-visitor",
        b"client-ip",
        b"fastly-client-ip",
        b"fly-client-ip",
        b"forwarded-for",
        b"front-end-https",
        b"path-info",
        b"path_info",
        b"script-name",
        b"script_name",
        b"true-client-ip",
        b"x-appengine-user-ip",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-forwarded",
        b"x-original-forwarded-for",
        b"x-original-host",
        b"x-original-url",
        b"x-real-ip",
        b"x-rewrite-url",
        b"x-scheme",
        b"x-url-scheme",
    ),
    PROXY,
)
# These common names are plain, but have the length and first letter of a special name (`SHAPES`).
# They are in `KINDS`, so that one look-up tells that they are plain.
COMMON = (
    b"Content-Encoding",
    b"X-Content-Type-Options",
    b"X-Frame-Options",
    b"X-Requested-With",
    b"X-XSS-Protection",
)


def _spellings() -> dict[bytes, int]:
    known = dict.fromkeys(COMMON, PLAIN) | SPECIAL
    for name, kind in SPECIAL.items():
        known[name.title()] = kind
    known[b"X-Request-ID"] = REQUEST_ID
    return known


# Special names in their usual spellings, so that one look-up is enough for them.
KINDS: dict[bytes, int] = _spellings()
LONGEST = max(map(len, SPECIAL))


def _shapes() -> bytes:
    """Return a table that tells, by length and first letter, whether a name may be special; this
    excludes most plain names. The last row is for names longer than every special name."""
    table = bytearray(32 * (LONGEST + 2))
    for name in SPECIAL:
        table[32 * len(name) + (name[0] & 31)] = 1
    for size in range(len(PREFIX) + 1, LONGEST + 2):
        table[32 * size + (PREFIX[0] & 31)] = 1
    return bytes(table)


SHAPES = _shapes()
