"""Names: what each field name means to a balancer.

Most names mean nothing to us (PLAIN): their lines are forwarded byte for byte, in order. The
others frame the message, belong to one connection only, or are ones we add to.
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
# From here on: what a client claims about where its request came from.
FORWARDED_FOR = 10
FORWARDED_PROTO = 11
FORWARDED_HOST = 12
FORWARDED = 13
REQUEST_ID = 14
PROXY = 15  # any other field that only a proxy has reason to send

# The two methods that most requests have; compared by identity.
GET = b"GET"
POST = b"POST"
# What a Connection field lists, mostly.
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

# Every field whose name begins like this speaks of a proxy, whatever follows.
PREFIX = b"x-forwarded-"
# Fields outside that family that frameworks, or the libraries in front of them, believe: about the
# client's address (as the npm package request-ip lists them), its scheme and its host, and about
# the target (Symfony, IIS, gunicorn's `forwarder_headers`). gunicorn's names have an underscore.
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
# Names that mean nothing to us, but look like names above by their length and first letter, and are
# in many messages: one look-up tells them, too.
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


# Special names as they are usually spelled: one look-up.
KINDS: dict[bytes, int] = _spellings()
LONGEST = max(map(len, SPECIAL))


def _shapes() -> bytes:
    """By length and first letter, whether a name may be special: most can be told by that. The
    last row is for all names that are longer than the longest one that is listed."""
    table = bytearray(32 * (LONGEST + 2))
    for name in SPECIAL:
        table[32 * len(name) + (name[0] & 31)] = 1
    for size in range(len(PREFIX) + 1, LONGEST + 2):
        table[32 * size + (PREFIX[0] & 31)] = 1
    return bytes(table)


SHAPES = _shapes()
