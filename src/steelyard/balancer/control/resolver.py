"""Resolver: host names of workers → addresses, in the control thread only.

The data loop never waits for a name server; a name that cannot be resolved now keeps the address
it had, or its worker stays out of the ring until it can.
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
FRESH = 30.0  # seconds after which a name is looked up anew


class Resolver:
    """Remembers where names lead."""

    def __init__(self) -> None:
        self._places: dict[Name, Place] = {}
        self._asked: dict[Name, float] = {}
        self._failed: set[Name] = set()

    def known(self, names: Iterable[Name]) -> dict[Name, Place]:
        """The places known now; literal addresses always are."""
        for name in names:
            if name not in self._places and (place := _literal(name)) is not None:
                self._places[name] = place
                self._asked[name] = float("inf")
        return dict(self._places)

    def stale(self, names: Iterable[Name]) -> list[Name]:
        """The names that should be looked up."""
        now = time.monotonic()
        return [name for name in names if self._asked.get(name, -FRESH) + FRESH <= now]

    async def refresh(self, names: Iterable[Name]) -> bool:
        """Look names up; True when one of them leads somewhere new."""
        return any(await asyncio.gather(*(self._look_up(name) for name in names)))

    async def _look_up(self, name: Name) -> bool:
        self._asked[name] = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(*name, type=socket.SOCK_STREAM)
        except OSError as error:
            self._asked[name] -= FRESH  # ask again with the next queue
            if name not in self._failed:
                self._failed.add(name)
                log.warning("worker address %s:%d: %s", *name, error)
            return False
        self._failed.discard(name)
        places = [_place(family, address) for family, _, _, _, address in found]
        before = self._places.get(name)
        if before in places:  # name servers rotate their answers; stay where we are
            return False
        self._places[name] = places[0]
        return True


def _place(family: socket.AddressFamily, address: tuple[Any, ...]) -> Place:
    return (family, address)  # getaddrinfo's type allows for builds without IPv6


def _literal(name: Name) -> Place | None:
    try:
        version = ipaddress.ip_address(name[0]).version
    except ValueError:
        return None
    return (socket.AF_INET if version == 4 else socket.AF_INET6), name
