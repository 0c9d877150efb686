"""Resolver: resolves the host names of workers to addresses, in the control thread only.

The data loop never waits for a name server. A name that cannot be resolved keeps its last address;
without one, its worker stays out of the table until the name can be resolved.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Iterable
from typing import Any

from steelyard.balancer.pool.table import Place

log = logging.getLogger(__name__)

Name = tuple[str, int]
FRESH = 30.0  # seconds after which a name is looked up again


class Resolver:
    """Remembers the addresses of names."""

    def __init__(self) -> None:
        self._places: dict[Name, Place] = {}
        self._asked: dict[Name, float] = {}
        self._failed: set[Name] = set()

    def known(self, names: Iterable[Name]) -> dict[Name, Place]:
        """Return all known addresses; a literal address is known without a lookup."""
        for name in names:
            if name not in self._places and (place := _literal(name)) is not None:
                self._places[name] = place
                self._asked[name] = float("inf")
        return dict(self._places)

    def stale(self, names: Iterable[Name]) -> list[Name]:
        """Return the names that are due for a lookup."""
        now = time.monotonic()
        return [name for name in names if self._asked.get(name, -FRESH) + FRESH <= now]

    async def refresh(self, names: Iterable[Name]) -> bool:
        """Look names up; return whether the address of one of them has changed."""
        return any(await asyncio.gather(*(self._look_up(name) for name in names)))

    async def _look_up(self, name: Name) -> bool:
        self._asked[name] = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(*name, type=socket.SOCK_STREAM)
        except OSError as error:
            self._asked[name] -= FRESH  # look the name up again with the next queue
            if name not in self._failed:
                self._failed.add(name)
                log.warning("worker address %s:%d: %s", *name, error)
            return False
        self._failed.discard(name)
        places = [_place(family, address) for family, _, _, _, address in found]
        before = self._places.get(name)
        if before in places:  # name servers rotate their answers: keep the address
            return False
        self._places[name] = places[0]
        return True


def _place(family: socket.AddressFamily, address: tuple[Any, ...]) -> Place:
    return (family, address)  # the declared type of getaddrinfo also covers builds without IPv6


def _literal(name: Name) -> Place | None:
    try:
        version = ipaddress.ip_address(name[0]).version
    except ValueError:
        return None
    return (socket.AF_INET if version == 4 else socket.AF_INET6), name
