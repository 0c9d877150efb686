"""ProxyHeader: reads the PROXY protocol header, which a trusted proxy sends first.

This handler replaces the client in the loop until the header is complete, so connections without a
header pay nothing.
"""

from __future__ import annotations

import logging

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.http.proxy_protocol import parse
from steelyard.balancer.io.loop import BROKEN, IN, Handler
from steelyard.errors import MalformedError

log = logging.getLogger(__name__)


class ProxyHeader(Handler):
    """Reads the PROXY header of one connection."""

    __slots__ = ("_client", "_data")

    def __init__(self, client: Client) -> None:
        self._client = client
        self._data = b""
        self.deadline = client.deadline
        client.loop.replace(client.fd, self)

    def on_event(self, mask: int) -> None:
        client = self._client
        count = client.receive() if mask & IN else -1
        if count > 0:
            self._data += client.loop.view[:count]
            self._look()
        elif count != -2 or mask & BROKEN:
            client.close()

    def expire(self) -> None:
        self._client.close()

    def abort(self) -> None:
        self._client.close()

    def _look(self) -> None:
        client = self._client
        try:
            header = parse(self._data)
        except MalformedError as error:
            log.info("a trusted proxy is cut off: %s", error)
            client.reset()
            return
        if header is not None:
            client.loop.replace(client.fd, client)
            client.proxied(header.source, header.tls, self._data[header.size :])
