"""Handshake: performs the TLS handshake with a client, before the first request.

The handshake follows the PROXY header, if there is one. Its handler replaces the client in the loop
until the handshake is complete. The time limit of a head applies to the handshake, counted from the
beginning of the connection.
"""

from __future__ import annotations

import logging
import ssl

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.io.loop import BROKEN, IN, OUT, Handler
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.tls import RECEIVE, Tls

log = logging.getLogger(__name__)

_RECORD = 22  # the first byte of every TLS connection (RFC 8446, 5.1); HTTP has no such byte


class Handshake(Handler):
    """The TLS handshake with one client."""

    __slots__ = ("_begun", "_client", "_tls")

    def __init__(self, client: Client, tls: Tls, early: bytes) -> None:
        self._client = client
        self._tls = tls
        self._begun = False  # the client has sent a byte
        self.deadline = client.deadline
        client.loop.replace(client.fd, self)
        if early:
            self._take(early)

    def on_event(self, mask: int) -> None:
        client = self._client
        if mask & OUT and client.pending and not client.flush():
            self._fail("the client is gone")
        elif mask & IN:
            self._read()
        elif mask & BROKEN:
            self._fail("the client is gone")

    def expire(self) -> None:
        self._fail("it took too long")

    def abort(self) -> None:
        self._client.close()

    def _read(self) -> None:
        client = self._client
        try:
            count = client.sock.recv_into(client.loop.buffer, RECEIVE)
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if count:
            self._take(client.loop.view[:count])
        else:
            self._fail("the client is gone")

    def _take(self, data: Buffer) -> None:
        client = self._client
        if not self._begun:
            self._begun = True
            if data[0] != _RECORD:
                self._not_tls(bytes(data))
                return
        try:
            done = self._tls.shake(client, data)
        except ssl.SSLError as error:
            self._fail(error.reason or str(error))
            return
        if done:
            client.loop.replace(client.fd, client)
            client.secured(self._tls)

    def _not_tls(self, data: bytes) -> None:
        """Refuse a client that sent no TLS: bytes that look like HTTP get an answer in HTTP, any
        other bytes only a close."""
        client = self._client
        if data[:1].isalpha():
            client.loop.replace(client.fd, client)
            client.unsecured(data)
        else:
            self._fail("not TLS")

    def _fail(self, reason: str) -> None:
        """Close the connection. The log level is debug, as port scanners and old clients fail
        often."""
        client = self._client
        if not self._begun:  # the client only checked whether the port is open
            client.close()
            return
        log.debug("no TLS with %s: %s", client.peer.decode(), reason)
        client.unshaken()
