"""KeyUpdate messages (RFC 8446, 4.6.3), which no client library sends on demand.

The messages are built by hand, from the secret that a client writes into its key log. Each message
is encrypted with the keys that the message before announced.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

CIPHER = "TLS_AES_256_GCM_SHA384"  # the only cipher suite supported
_UPDATE = b"\x18\x00\x00\x01\x01"  # a handshake message: key_update, update_requested
_HANDSHAKE = b"\x16"


def key_updates(log: Path) -> Iterator[bytes]:
    """KeyUpdate records of a client that has sent nothing since its handshake."""
    words = (line.split() for line in log.read_text().splitlines())
    secret = next(bytes.fromhex(w[2]) for w in words if w[:1] == ["CLIENT_TRAFFIC_SECRET_0"])
    inner = _UPDATE + _HANDSHAKE
    head = b"\x17\x03\x03" + struct.pack("!H", len(inner) + 16)
    while True:
        key, nonce = _expand(secret, b"key", 32), _expand(secret, b"iv", 12)
        yield head + AESGCM(key).encrypt(nonce, inner, head)
        secret = _expand(secret, b"traffic upd", 48)


def _expand(secret: bytes, label: bytes, length: int) -> bytes:
    """HKDF-Expand-Label (RFC 8446, 7.1) without a context."""
    label = b"tls13 " + label
    info = struct.pack("!HB", length, len(label)) + label + b"\0"
    return HKDFExpand(SHA384(), length, info).derive(secret)
