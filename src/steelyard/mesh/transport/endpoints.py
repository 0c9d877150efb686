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
    """One address; its text has the form that Zenoh understands."""

    protocol: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}/{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether it is on loopback, where no other machine can listen in."""
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
    """Parse an endpoint that a person wrote; `default` is the protocol when none is named."""
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
        raise UsageError(
            f"“{host}” is not the name of a host", hint="use a name that DNS allows"
        ) from None
    return Endpoint(protocol, host.strip("[]"), int(port))


def settle(endpoint: Endpoint) -> Endpoint:
    """The same endpoint, with a free port in place of port 0."""
    if endpoint.port:
        return endpoint
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind(("" if endpoint.wildcard else endpoint.host, 0))
        return Endpoint(endpoint.protocol, endpoint.host, probe.getsockname()[1])


def obstacle(endpoint: Endpoint) -> str | None:
    """Why it is not possible to listen there, or None if it is."""
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
    """The endpoints that others may connect to: for a wildcard, every address of this machine."""
    if not endpoint.wildcard:
        return [endpoint]
    hosts = [host for _, name in socket.if_nameindex() if (host := _address(name)) is not None]
    if endpoint.host == "::":
        hosts += global_addresses(_IPV6.read_text() if _IPV6.exists() else "")
    return [Endpoint(endpoint.protocol, host, endpoint.port) for host in hosts]


def global_addresses(table: str) -> list[str]:
    """The IPv6 addresses that other machines may reach, from the text of /proc/net/if_inet6."""
    rows = [line.split() for line in table.splitlines()]
    return [str(ipaddress.IPv6Address(int(row[0], 16))) for row in rows if row[3] == _GLOBAL]


def _address(interface: str) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            got = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", interface[:15].encode()))
        except OSError:  # the interface has no IPv4 address
            return None
    return socket.inet_ntoa(got[20:24])
