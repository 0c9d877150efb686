"""Values that people write as text: addresses, sizes, times, port ranges and names.

Each type carries a Kind, which says what is expected in an error message, and how a value is
written as text.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?:(?P<unit>[KMGT])i?)?B?", re.IGNORECASE)
_TIMES = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>ms|s|m|h|)")
_VOLUME = re.compile(r"(/[^:]*|[A-Za-z0-9][A-Za-z0-9_.-]+):/[^:]*(:(ro|rw))?")
_CAPABILITY = re.compile(r"[A-Z_]+")
_CONSTRAINT = re.compile(r"(node|engine)\.[A-Za-z0-9_.-]+ *[!=]= *\S+")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def as_list(values: Iterable[str]) -> str:
    """Several values as JSON, which a variable or a flag may contain, too."""
    return json.dumps(list(values))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: its word in --help, a noun and examples for messages, and its text."""

    word: str
    noun: str
    examples: str = ""
    show: Callable[[Any], str] = str

    def expects(self, bounds: str = "") -> str:
        """The phrase after “expected” in a message about a wrong value."""
        phrase = f"{self.noun} {bounds}".rstrip()
        return f"{phrase}, for instance {self.examples}" if self.examples else phrase


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def reachable(self) -> Address:
        """The address to connect to: loopback, if a server listens on all addresses."""
        own = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        return Address(own.get(self.host, self.host), self.port)

    @property
    def loopback(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def clashes(self, other: Address) -> bool:
        """Whether the two addresses cannot both be bound; port 0 means any free port."""
        hosts = {self.host, other.host}
        overlap = len(hosts) == 1 or not hosts.isdisjoint({"0.0.0.0", "::"})
        return overlap and self.port == other.port != 0


def format_bytes(size: int) -> str:
    """The shortest text that `parse_bytes` reads as the same size."""
    for unit in reversed(_UNITS):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}iB" if unit else str(size)
    return "0"


ADDRESS = Kind("HOST:PORT", "an address HOST:PORT", "127.0.0.1:8080 or [::1]:8080")
SIZE = Kind("SIZE", "a size in bytes", "512M, 64MiB or 1GB", format_bytes)
TIME = Kind("SECONDS", "a time in seconds", "5, 500ms or 2m", "{:g}".format)
WORKER = Kind("HOST:PORT[=WEIGHT]", "HOST:PORT or HOST:PORT=WEIGHT", "127.0.0.1:9000=2")
PORTS = Kind(
    "FIRST-LAST",
    "a first and a last port, 1…65535",
    "21000-29999",
    lambda ports: f"{ports[0]}-{ports[1]}",
)


def parse_address(value: Any) -> Address:
    """Parse `HOST:PORT`, `[IPV6]:PORT`, `*:PORT`, `:PORT` or `PORT`; the default is loopback."""
    if isinstance(value, Address):
        return value
    host, _, port = str(value).rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise ValueError(ADDRESS.expects())
    return Address(_host(host), int(port))


def _host(text: str) -> str:
    if text in {"", "*"}:
        return "0.0.0.0" if text else "127.0.0.1"
    try:
        if text.startswith("[") and text.endswith("]"):
            return str(ipaddress.IPv6Address(text[1:-1]))
    except ValueError:
        raise ValueError(ADDRESS.expects()) from None
    if _HOST.fullmatch(text) is None:
        raise ValueError(ADDRESS.expects())
    return text


def parse_bytes(value: Any) -> int:
    """Parse a size: `1048576`, `512K`, `64MiB`, `1.5 GB` (a K is 1024)."""
    match = _SIZE.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(SIZE.expects())
    return int(Decimal(match["number"]) * _UNITS[(match["unit"] or "").upper()])


def parse_seconds(value: Any) -> Any:
    """Parse a time: `5`, `0.5`, `500ms`, `2m`, `1h`; a number is returned as it is."""
    if not isinstance(value, str):
        return value
    match = _TIME.fullmatch(value.strip())
    if match is None:
        raise ValueError(TIME.expects())
    return float(match["number"]) * _TIMES[match["unit"]]


def parse_ports(value: Any) -> Any:
    """Parse `FIRST-LAST`; a pair is returned as it is."""
    if not isinstance(value, str):
        return value
    first, dash, last = (part.strip() for part in value.partition("-"))
    if not (dash and first.isdigit() and last.isdigit()):
        raise ValueError(PORTS.expects())
    return first, last


def parse_paths(value: Any) -> Any:
    """One path as a tuple; a list of paths is returned as it is."""
    return (value,) if isinstance(value, str | Path) else value


def check_networks(values: tuple[str, ...]) -> tuple[str, ...]:
    """Check addresses and networks; return them as the standard library writes them."""
    return tuple(str(ipaddress.ip_network(value)) for value in values)


class WorkerAddress(NamedTuple):
    """The address of a fixed worker, and its weight."""

    address: Address
    weight: float


def parse_worker(text: str) -> WorkerAddress:
    """Parse `HOST:PORT` or `HOST:PORT=WEIGHT`."""
    place, _, weight = text.partition("=")
    parsed = WorkerAddress(parse_address(place), float(weight or "1"))
    if not (0 < parsed.weight < inf and parsed.address.port):
        raise ValueError(WORKER.expects())
    return parsed


def check_workers(values: tuple[str, ...]) -> tuple[str, ...]:
    """Check that `parse_worker` accepts each text and that no address occurs twice."""
    if len({parse_worker(value).address for value in values}) != len(values):
        raise ValueError(WORKER.expects())
    return values


def all_match(pattern: re.Pattern[str]) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """A function that checks each text of a list; the message of an error comes from the kind."""

    def check(values: tuple[str, ...]) -> tuple[str, ...]:
        if not all(pattern.fullmatch(value) for value in values):
            raise ValueError(pattern.pattern)
        return values

    return check


AddressText = Annotated[
    Address, BeforeValidator(parse_address), PlainSerializer(str, return_type=str), ADDRESS
]
Bytes = Annotated[int, BeforeValidator(parse_bytes), SIZE]
Seconds = Annotated[float, Field(ge=0), BeforeValidator(parse_seconds), TIME]
Port = Annotated[int, Field(ge=1, le=65535)]
Percent = Annotated[float, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=1)]
Ports = Annotated[tuple[Port, Port], BeforeValidator(parse_ports), PORTS]
Networks = Annotated[
    tuple[str, ...],
    AfterValidator(check_networks),
    Kind(
        "NETWORKS",
        "a list of addresses and networks",
        '["10.0.0.0/8", "::1"]',
        as_list,
    ),
]
Workers = Annotated[
    tuple[str, ...],
    AfterValidator(check_workers),
    Kind(
        "WORKERS",
        "a list of different workers HOST:PORT[=WEIGHT]",
        '["127.0.0.1:9000", "127.0.0.1:9001=2"]',
        as_list,
    ),
]
Paths = Annotated[
    tuple[Path, ...],
    BeforeValidator(parse_paths),
    Kind(
        "PATH",
        "a path or a list of paths",
        '"a.pem" or ["a.pem", "b.pem"]',
        lambda value: str(value[0]) if len(value) == 1 else json.dumps([*map(str, value)]),
    ),
]
Name = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$"),
    Kind("NAME", "a name of up to 40 lower-case letters, digits and -", "shop-2"),
]
ImageName = Annotated[
    str, Field(pattern=r"^[a-z0-9]\S*$"), Kind("IMAGE", "the name of an image", "shop:2")
]
EnginePlace = Annotated[
    str,
    Field(pattern=r"^(ssh|tcp|https?|unix)://([^{}\s]|\{name\}|\{address\})+$"),
    Kind("URL", "a URL as in DOCKER_HOST, with {name} or {address}", "ssh://steelyard@{name}"),
]
NetworkName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"),
    Kind("NAME", "the name of a network", "steelyard-shop"),
]
Volumes = Annotated[
    tuple[str, ...],
    AfterValidator(all_match(_VOLUME)),
    Kind(
        "VOLUMES",
        "a list of SOURCE:TARGET[:ro], where SOURCE is a volume or an absolute path",
        '["data:/data", "/srv/site:/site:ro"]',
        as_list,
    ),
]
Capabilities = Annotated[
    tuple[str, ...],
    AfterValidator(all_match(_CAPABILITY)),
    Kind(
        "CAPABILITIES",
        "a list of capabilities",
        '["NET_BIND_SERVICE"]',
        as_list,
    ),
]
Constraints = Annotated[
    tuple[str, ...],
    AfterValidator(all_match(_CONSTRAINT)),
    Kind(
        "CONSTRAINTS",
        "a list of KEY==VALUE or KEY!=VALUE, as for docker service create --constraint",
        '["node.role==worker", "node.labels.disk!=slow"]',
        as_list,
    ),
]
CookieName = Annotated[
    str,
    Field(pattern=r"^[0-9A-Za-z!#$%&'*+.^_`|~-]{1,64}$"),
    Kind("NAME", "a name of up to 64 characters without spaces and separators", "SESSION"),
]
UrlPath = Annotated[
    str, Field(pattern=r"^/[!-~]*$"), Kind("PATH", "a path that begins with /", "/health")
]
LogPath = Annotated[
    str, Field(min_length=1), Kind("PATH", "a path, or - for standard output", "access.log")
]
StoreUrl = Annotated[
    str,
    Field(pattern=r"^(sqlite:.*|memory:|rediss?://.*)$"),
    Kind("URL", "a store", "sqlite:PATH, memory: or redis://HOST:PORT"),
]
