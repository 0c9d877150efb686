"""The contract of a proxy: a site to serve, and the command that serves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

from steelyard.bench.launch import Command
from steelyard.bench.tools import Say

# Connections that a proxy must be able to hold: 10,000 idle ones and some more.
CONNECTIONS = 12_000
MANY = 1_000_000_000  # requests per connection, so that none is closed for its age


class Member(NamedTuple):
    """A server behind the proxy."""

    port: int
    weight: int = 1


class Site(NamedTuple):
    """The site that a proxy has to serve, on loopback."""

    listen: int
    members: tuple[Member, ...]
    folder: Path  # the proxy's own folder, for configuration and temporary files
    tunnel: bool = False  # for WebSocket, which nginx must be told


class Proxy(ABC):
    """One contender."""

    name: str
    program: ClassVar[str] = ""  # the program, and the Debian package of the same name

    def prepare(self, say: Say) -> None:  # noqa: B027 - most need nothing but their package
        """Install what it needs beyond its package."""

    @abstractmethod
    def missing(self) -> str:
        """Why it cannot be measured; empty if it can."""

    @abstractmethod
    def version(self) -> str:
        """Its version, for the report."""

    @abstractmethod
    def command(self, site: Site) -> Command:
        """Write its configuration; return the command that serves the site in the foreground until
        SIGTERM.
        """
