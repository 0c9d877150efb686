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
# From here on: what a client claims about where its request came from.
FORWARDED_FOR = 8
FORWARDED_PROTO = 9
FORWARDED_HOST = 10
FORWARDED = 11
REQUEST_ID = 12

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


def _spellings() -> dict[bytes, int]:
    known = dict(SPECIAL)
    for name, kind in SPECIAL.items():
        known[name.title()] = kind
    known[b"X-Request-ID"] = REQUEST_ID
    return known


# Special names as they are usually spelled: one look-up.
KINDS: dict[bytes, int] = _spellings()
LONGEST = max(map(len, SPECIAL))


def _shapes() -> bytes:
    """By length and first letter, whether a name may be special: most can be told by that."""
    table = bytearray(32 * (LONGEST + 1))
    for name in SPECIAL:
        table[32 * len(name) + (name[0] & 31)] = 1
    return bytes(table)


SHAPES = _shapes()
