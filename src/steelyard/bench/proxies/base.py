"""The contract of a proxy: a site to serve, and the command that serves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

from steelyard.bench.launch import Command
from steelyard.bench.tools import Say

CONNECTIONS = 12_000  # that a proxy must be able to hold: 10,000 idle ones and some
MANY = 1_000_000_000  # requests per connection: none is closed for its age


class Member(NamedTuple):
    """A server behind the proxy."""

    port: int
    weight: int = 1


class Site(NamedTuple):
    """What a proxy has to serve, on loopback."""

    listen: int
    members: tuple[Member, ...]
    folder: Path  # its own, for configuration and temporary files
    tunnel: bool = False  # WebSocket: nginx has to be told


class Proxy(ABC):
    """One contender."""

    name: str
    program: ClassVar[str] = ""  # a Debian package of the same name has it

    def prepare(self, say: Say) -> None:  # noqa: B027 - most need nothing but their package
        """Get what it needs beyond its package."""

    @abstractmethod
    def missing(self) -> str:
        """Why it cannot be measured; empty when it can."""

    @abstractmethod
    def version(self) -> str:
        """For the record."""

    @abstractmethod
    def command(self, site: Site) -> Command:
        """How it serves a site, in the foreground, until SIGTERM; writes its configuration."""
