"""The PROXY protocol, versions 1 and 2, by which a proxy tells the address of its client.

The parser is strict, after https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt. It has no
socket: bytes go in, a header comes out, or None while the header is incomplete. Any other data ends
the connection, as the specification demands.
"""

from __future__ import annotations

import re
import struct
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

from steelyard.errors import MalformedError

LONGEST_V1 = 107  # bytes, with the line end (2.1)
LONGEST_V2 = 4096  # bytes of addresses and extensions; the length field would allow 65535

_START_V1 = b"PROXY "
_START_V2 = b"\r\n\r\n\x00\r\nQUIT\n"
_LINE = re.compile(r"PROXY (TCP4|TCP6) ([0-9A-Fa-f.:]+) ([0-9A-Fa-f.:]+) ([0-9]+) ([0-9]+)")
_PORT = re.compile(r"0|[1-9][0-9]{0,4}")
_LOCAL, _PROXY = 0x20, 0x21
_UNSPEC, _TCP4, _TCP6, _UNIX = 0x00, 0x11, 0x21, 0x31
_SIZES = {_UNSPEC: 0, _TCP4: 12, _TCP6: 36, _UNIX: 216}
_SSL = 0x20  # an extension; bit 0 of its first octet: the client uses TLS


class Header(NamedTuple):
    """The content of a PROXY header."""

    size: int  # bytes of the header; the client's data begins behind them
    source: str | None  # the client's address; None: the proxy's own connection, or unknown
    tls: bool = False


def parse(data: bytes) -> Header | None:
    """Parse the header at the beginning of a connection; return None if it is incomplete."""
    if data.startswith(_START_V2):
        return _version2(data)
    if data.startswith(_START_V1):
        return _version1(data)
    if _START_V1.startswith(data) or _START_V2.startswith(data):
        return None
    raise MalformedError("no PROXY header")


def _version1(data: bytes) -> Header | None:
    end = data.find(b"\r\n", 0, LONGEST_V1)
    if end < 0:
        if len(data) >= LONGEST_V1 or b"\n" in data:
            raise MalformedError("a PROXY line without its end")
        return None
    if data.startswith(b"PROXY UNKNOWN") and data[13:14] in (b" ", b"\r"):
        return Header(end + 2, None)
    match = _LINE.fullmatch(data[:end].decode("latin-1"))
    if match is None:
        raise MalformedError("a bad PROXY line")
    family, source, destination, *ports = match.groups()
    if any(not _PORT.fullmatch(port) or int(port) > 65535 for port in ports):
        raise MalformedError("a bad port in a PROXY line")
    _address(family, destination)
    return Header(end + 2, _address(family, source))


def _address(family: str, text: str) -> str:
    try:
        return str(IPv4Address(text) if family == "TCP4" else IPv6Address(text))
    except AddressValueError as error:
        raise MalformedError("a bad address in a PROXY line") from error


def _version2(data: bytes) -> Header | None:
    if len(data) < 16:
        return None
    command, family, length = struct.unpack_from("!BBH", data, 12)
    if command not in (_LOCAL, _PROXY) or length > LONGEST_V2:
        raise MalformedError("a bad PROXY command, or one that is too long")
    end = 16 + length
    if len(data) < end:
        return None
    if command == _LOCAL:
        return Header(end, None)
    size = _SIZES.get(family, -1)
    if not 0 <= size <= length:
        raise MalformedError("a bad PROXY family, or an address that is cut")
    tls = False if family == _UNSPEC else _tls(data[16 + size : end])
    return Header(end, _source(family, data), tls)


def _source(family: int, data: bytes) -> str | None:
    if family == _TCP4:
        return str(IPv4Address(data[16:20]))
    return str(IPv6Address(data[16:32])) if family == _TCP6 else None


def _tls(extensions: bytes) -> bool:
    """Whether an extension tells that the client uses TLS; a truncated extension is an error."""
    found, at = False, 0
    while at < len(extensions):
        if len(extensions) - at < 3:
            raise MalformedError("a PROXY extension that is cut")
        kind, length = struct.unpack_from("!BH", extensions, at)
        value = extensions[at + 3 : at + 3 + length]
        if len(value) < length:
            raise MalformedError("a PROXY extension that is cut")
        found = found or (kind == _SSL and bool(value[:1]) and bool(value[0] & 1))
        at += 3 + length
    return found
