"""Values that people write as text: addresses and sizes."""

from __future__ import annotations

import re
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[BKMGT]?)(?:i?B)?", re.IGNORECASE)


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def loopback(self) -> bool:
        return self.host in {"localhost", "::1"} or self.host.startswith("127.")


def parse_address(value: Any) -> Address:
    """`HOST:PORT`, `[IPV6]:PORT`, `:PORT` or `PORT`; without a host, loopback."""
    if isinstance(value, Address):
        return value
    host, _, port = str(value).rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError("HOST:PORT, for instance 127.0.0.1:8080")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError("HOST:PORT; an IPv6 address stands in brackets: [::1]:8080")
    return Address(host.strip("[]") or "127.0.0.1", int(port))


def parse_bytes(value: Any) -> int:
    """A size: `1048576`, `512K`, `64MiB`, `1.5 GB` (a K is 1024)."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _SIZE.fullmatch(str(value).strip())
    if match is None:
        raise ValueError("a size in bytes, for instance 512K, 64MiB or 1GB")
    return int(float(match["number"]) * _UNITS[match["unit"].upper()])


AddressText = Annotated[Address, BeforeValidator(parse_address)]
Bytes = Annotated[int, BeforeValidator(parse_bytes)]
