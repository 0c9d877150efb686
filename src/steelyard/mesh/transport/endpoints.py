"""Where nodes listen and connect: `tcp/HOST:PORT`, `tls/HOST:PORT`, or `HOST:PORT` alone."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import UsageError

_SIOCGIFADDR = 0x8915
_IPV6, _GLOBAL = Path("/proc/net/if_inet6"), "00"
_WILDCARDS = {"0.0.0.0", "::", "*", ""}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address; its text is what Zenoh understands."""

    protocol: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}/{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether it is on loopback, where nobody else can listen in."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def wildcard(self) -> bool:
        """Whether it stands for all addresses of the machine."""
        return self.host in _WILDCARDS


def parse(text: str, default: str) -> Endpoint:
    """An endpoint from what a person wrote; `default` is the protocol when none is named."""
    protocol, slash, rest = text.partition("/")
    if not slash:
        protocol, rest = default, text
    host, colon, port = rest.rpartition(":")
    if protocol not in ("tcp", "tls") or not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"“{text}” is not an endpoint", hint="write tcp/HOST:PORT or tls/HOST:PORT"
        )
    try:
        host.encode("idna")
    except UnicodeError:
        raise UsageError(f"“{host}” is not the name of a host", hint="as DNS has them") from None
    return Endpoint(protocol, host.strip("[]"), int(port))


def settle(endpoint: Endpoint) -> Endpoint:
    """The same with a port that is free now, when any will do."""
    if endpoint.port:
        return endpoint
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind(("" if endpoint.wildcard else endpoint.host, 0))
        return Endpoint(endpoint.protocol, endpoint.host, probe.getsockname()[1])


def obstacle(endpoint: Endpoint) -> str | None:
    """Why nobody can listen there, if so."""
    host = None if endpoint.wildcard else endpoint.host
    try:
        found = socket.getaddrinfo(
            host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return error.strerror or str(error)
    return None


def locators(endpoint: Endpoint) -> list[Endpoint]:
    """What others may connect to: of a wildcard, every address of this machine."""
    if not endpoint.wildcard:
        return [endpoint]
    hosts = [host for _, name in socket.if_nameindex() if (host := _address(name)) is not None]
    if endpoint.host == "::":
        hosts += global_addresses(_IPV6.read_text() if _IPV6.exists() else "")
    return [Endpoint(endpoint.protocol, host, endpoint.port) for host in hosts]


def global_addresses(table: str) -> list[str]:
    """Those of IPv6 that other machines may know, as /proc/net/if_inet6 lists them."""
    rows = [line.split() for line in table.splitlines()]
    return [str(ipaddress.IPv6Address(int(row[0], 16))) for row in rows if row[3] == _GLOBAL]


def _address(interface: str) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            got = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", interface[:15].encode()))
        except OSError:  # it has none
            return None
    return socket.inet_ntoa(got[20:24])
