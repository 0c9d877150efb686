"""Authority: the host of a request, perhaps with a port (RFC 9110, 7.2; RFC 3986, 3.2)."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address

from steelyard.balancer.http.alphabets import COLON, DIGITS, PLAIN_HOST
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.io.octets import cut, octet, run, spans

# RFC 3986: a host is an IP literal, a registered name or an IPv4 address; it is never empty (RFC
# 9110, 4.2.1). A registered name may contain a comma, but a comma is refused here: a parser that
# joins fields would see two Hosts.
_HOST = re.compile(
    rb"(?:\[([0-9A-Fa-f:.]+)\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?"
)


def authority(data: bytes, start: int, stop: int) -> bytes:
    """Return the authority between the two positions; refuse anything else."""
    value = cut(data, start, stop)
    if not _is_plain(data, start, stop):
        value = value.strip(b" \t")
        if not is_authority(value):
            raise BadMessageError(400, "a bad Host")
    return value


def is_authority(value: bytes) -> bool:
    """Whether the value is an authority, in any of its forms."""
    match = _HOST.fullmatch(value)
    if match is None or match[1] is None:
        return match is not None
    try:
        IPv6Address(match[1].decode())
    except AddressValueError:
        return False
    return True


def _is_plain(data: bytes, start: int, stop: int) -> bool:
    """Whether the host consists of common octets only, perhaps with a port, and needs no regex."""
    end = run(data, start, PLAIN_HOST)
    if end in (start, stop):
        return end > start
    return octet(data, end) == COLON and stop - end <= 6 and spans(data, end + 1, stop, DIGITS)
