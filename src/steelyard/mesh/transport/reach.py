"""Finds out which of many addresses accept connections, all at once.

Names are looked up in threads: a name that no server answers for takes the system ten seconds or
more, and must not hold up the others.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from errno import EINPROGRESS
from typing import Any

from steelyard.mesh.transport.endpoints import parse

Where = tuple[int, int, Any]  # family, type and address of a socket


class Reach:
    """Remembers which names are being looked up."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way: set[str] = set()
        self._found: dict[str, Where] = {}

    def reachable(self, locators: Collection[str], patience: float) -> set[str]:
        """The locators that took a connection within so many seconds after their names were
        found.
        """
        found: set[str] = set()
        with selectors.DefaultSelector() as selector:
            for locator, where in self._look_up(locators, patience).items():
                _dial(selector, locator, where)
            until = time.monotonic() + patience
            while selector.get_map() and (left := until - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    probe = key.fileobj
                    assert isinstance(probe, socket.socket)  # noqa: S101 - only sockets were registered
                    selector.unregister(probe)
                    with probe:
                        if not probe.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                            found.add(key.data)
            for key in list(selector.get_map().values()):
                key.fileobj.close()  # type: ignore[union-attr]
        return found

    def _look_up(self, locators: Collection[str], patience: float) -> dict[str, Where]:
        """The addresses of locators whose names are found in time; later finds serve the
        next call.
        """
        for locator in locators:
            try:
                self._found[locator] = _where(locator, socket.AI_NUMERICHOST)
            except OSError:
                self._ask(locator)
        with self._changed:
            self._changed.wait_for(lambda: self._under_way.isdisjoint(locators), patience)
            return {one: self._found.pop(one) for one in locators if one in self._found}

    def _ask(self, locator: str) -> None:
        with self._changed:
            if locator in self._under_way:
                return
            self._under_way.add(locator)

        def run() -> None:
            where = None
            with suppress(OSError):
                where = _where(locator)
            with self._changed:
                self._under_way.discard(locator)
                if where is not None:
                    self._found[locator] = where
                self._changed.notify_all()

        threading.Thread(target=run, name="steelyard-name", daemon=True).start()


def _where(locator: str, flags: int = 0) -> Where:
    endpoint = parse(locator, "tcp")
    family, kind, _, _, address = socket.getaddrinfo(
        endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=flags
    )[0]
    return family, kind, address


def _dial(selector: selectors.BaseSelector, locator: str, where: Where) -> None:
    family, kind, address = where
    with suppress(OSError):
        probe = socket.socket(family, kind)
        probe.setblocking(False)
        if probe.connect_ex(address) in (0, EINPROGRESS):
            selector.register(probe, selectors.EVENT_WRITE, locator)
        else:
            probe.close()
