"""The kinds of load that a proxy is measured with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

SMALL = 128  # bytes
KIB = 1024


class Kind(StrEnum):
    """The client that a case needs."""

    HTTP = "http"
    WEBSOCKET = "websocket"
    IDLE = "idle"


class Case(NamedTuple):
    """One kind of load."""

    name: str
    title: str
    kind: Kind = Kind.HTTP
    method: str = "GET"
    size: int = SMALL  # bytes of the answer's body
    upload: int = 0  # bytes of the request's body
    fields: Mapping[str, str] = MappingProxyType({})  # request fields besides Host

    @property
    def path(self) -> str:
        return f"/{self.size}"

    @property
    def has_body(self) -> bool:
        """Whether the case has large bodies, so that contenders with tuned buffers take part."""
        return self.upload > 0 or self.size > SMALL


# With Host there are eleven, as Firefox and Chrome send them on a navigation.
BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
    "Accept-Language": "en-GB,en;q=0.7,de;q=0.3",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Referer": "http://www.example.org/catalogue/shelf?page=2",
    "Cookie": "session=6f1d0f4e0b7c4a1c9a55d1f0c1a2b3c4; theme=dark; consent=necessary",
    "Upgrade-Insecure-Requests": "1",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
}

CASES = (
    Case("small", "small response, small head"),
    Case("browser", "small response, browser's head (11 fields)", fields=BROWSER),
    Case("64k", "64 KiB GET", size=64 * KIB),
    Case("1m", "1 MiB GET", size=1024 * KIB),
    Case("post", "16 KiB POST", method="POST", upload=16 * KIB),
    Case("websocket", "WebSocket messages, 100 bytes, there and back", Kind.WEBSOCKET),
    Case("idle", "10,000 idle connections", Kind.IDLE),
)
