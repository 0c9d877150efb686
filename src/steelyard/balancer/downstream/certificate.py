"""Certificate: reads the host names and the validity period of a certificate.

This module uses no file and no clock: text goes in, facts come out. The standard library parses
only certificates of peers. This module parses only the part of DER (X.690) that is needed to find
these fields (RFC 5280, 4.1).
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from steelyard.errors import MalformedError

_BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_SEQUENCE, _OCTETS, _OID, _UTC_TIME = 0x30, 0x04, 0x06, 0x17
_VERSION, _EXTENSIONS, _DNS_NAME = 0xA0, 0xA3, 0x82
_ALTERNATIVE_NAMES = bytes.fromhex("551d11")  # the OID 2.5.29.17


class Certificate(NamedTuple):
    """The host names and the validity period of a certificate."""

    names: tuple[str, ...]  # host names in lower case; `*.` stands for one label
    begins: datetime
    ends: datetime


def read_certificate(pem: str) -> Certificate:
    """Read the first certificate of a PEM file; the certificates behind it are its chain."""
    block = _BLOCK.search(pem)
    if block is None:
        raise MalformedError("no certificate in it")
    try:
        return _read(ssl.PEM_cert_to_DER_cert(block[0]))
    except (ValueError, IndexError, StopIteration) as error:
        raise MalformedError("a certificate that cannot be read") from error


def _read(der: bytes) -> Certificate:
    [(_, whole)] = _parts(der)
    _, signed = next(_parts(whole))
    fields = [part for part in _parts(signed) if part[0] != _VERSION]
    begins, ends = (_time(tag, value) for tag, value in _parts(fields[3][1]))
    extensions = b"".join(value for tag, value in fields if tag == _EXTENSIONS)
    return Certificate(tuple(_names(extensions)), begins, ends)


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and the value of each DER element."""
    at = 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length & 0x80:
            count = length & 0x7F
            length, at = int.from_bytes(data[at : at + count]), at + count
        if at + length > len(data):
            raise ValueError("cut")
        yield tag, data[at : at + length]
        at += length


def _time(tag: int, value: bytes) -> datetime:
    """Parse a time; a year of two digits is one of 1950…2049 (RFC 5280, 4.1.2.5)."""
    text = value.decode("ascii")
    if tag == _UTC_TIME:
        text = ("19" if text >= "50" else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _names(extensions: bytes) -> Iterator[str]:
    for _, listed in _parts(extensions):
        for _, extension in _parts(listed):
            (_, name), *_, (_, value) = _parts(extension)
            if name == _ALTERNATIVE_NAMES:
                [(_, names)] = _parts(value)
                yield from (
                    text.decode().lower() for tag, text in _parts(names) if tag == _DNS_NAME
                )
