"""WebSocket by hand (RFC 6455), for client and echo: a library would be slower than the proxies.

All messages have one size and are masked with zeros, so that a frame is a constant.
"""

from __future__ import annotations

import base64
import hashlib

SIZE = 100  # bytes of a message: below 126, the length is one byte
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_PAYLOAD = b"m" * SIZE

FROM_CLIENT = bytes((0x82, 0x80 | SIZE, 0, 0, 0, 0)) + _PAYLOAD
FROM_SERVER = bytes((0x82, SIZE)) + _PAYLOAD
END_OF_HEAD = b"\r\n\r\n"

_KEY = base64.b64encode(b"steelyard bench!")
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + _KEY + END_OF_HEAD
)


def accepted(head: bytes) -> bytes:
    """The answer to a handshake. The key in it may come from the proxy."""
    digest = base64.b64encode(hashlib.sha1(_key(head) + _GUID, usedforsecurity=False).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + digest + END_OF_HEAD
    )


def _key(head: bytes) -> bytes:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"sec-websocket-key":
            return value.strip()
    return b""
