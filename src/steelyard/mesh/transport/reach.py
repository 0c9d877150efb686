"""Whether anybody accepts connections at an address, asked of many at once."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterable
from contextlib import suppress

from steelyard.mesh.transport.endpoints import parse


def reachable(locators: Iterable[str], patience: float) -> set[str]:
    """Those that took a connection within so many seconds."""
    found: set[str] = set()
    with selectors.DefaultSelector() as selector:
        for locator in locators:
            _dial(selector, locator)
        until = time.monotonic() + patience
        while selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                probe = key.fileobj
                assert isinstance(probe, socket.socket)  # noqa: S101 - that is what was registered
                selector.unregister(probe)
                with probe:
                    if not probe.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                        found.add(key.data)
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return found


def _dial(selector: selectors.BaseSelector, locator: str) -> None:
    endpoint = parse(locator, "tcp")
    with suppress(OSError):
        where = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)[0]
        probe = socket.socket(where[0], where[1])
        probe.setblocking(False)
        error = probe.connect_ex(where[4])
        if error in (0, 115):  # EINPROGRESS
            selector.register(probe, selectors.EVENT_WRITE, locator)
        else:
            probe.close()
