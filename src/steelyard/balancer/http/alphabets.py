"""Alphabets: the sets of octets that the parts of a head may contain."""

from __future__ import annotations

from steelyard.balancer.io.octets import Alphabet

TOKEN = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME = Alphabet(TOKEN)
# The octets of a request target are printable ASCII without `#`. Browsers send more than RFC 3986
# allows (`|` in queries). No client sends a fragment, and workers would interpret one differently.
TARGET = Alphabet(bytes(code for code in range(0x21, 0x7F) if code != ord("#")))
# The octets of most host names.
PLAIN_HOST = Alphabet(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_")
DIGITS = Alphabet(b"0123456789")

CR, LF, SPACE, COLON, SLASH, ZERO, ONE = b"\r\n :/01"
