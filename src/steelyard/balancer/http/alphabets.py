"""Alphabets: which octets may stand where in a head."""

from __future__ import annotations

from steelyard.balancer.io.octets import Alphabet

TOKEN = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME = Alphabet(TOKEN)
# Printable ASCII without `#`: browsers send more than RFC 3986 allows (`|` in queries), but a
# fragment is never sent, and what a reader would make of one is anybody's guess.
TARGET = Alphabet(bytes(code for code in range(0x21, 0x7F) if code != ord("#")))
# What most hosts are made of.
PLAIN_HOST = Alphabet(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_")
DIGITS = Alphabet(b"0123456789")

CR, LF, SPACE, COLON, SLASH, ZERO, ONE = b"\r\n :/01"
