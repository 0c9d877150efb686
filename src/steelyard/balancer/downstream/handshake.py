"""Handshake: agrees on keys with a client over TLS, before the first request.

It comes after the header of a proxy, if there is one, and takes the client's place in the loop
until both sides have keys. It has the time limit of a head, from the beginning of the connection
on.
"""

from __future__ import annotations

import logging
import ssl

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.io.loop import BROKEN, IN, OUT, Handler
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.tls import RECEIVE, Tls

log = logging.getLogger(__name__)

_RECORD = 22  # the first byte of every TLS connection (RFC 8446, 5.1); no letter of HTTP is that


class Handshake(Handler):
    """Agrees on keys with one client."""

    __slots__ = ("_begun", "_client", "_tls")

    def __init__(self, client: Client, tls: Tls, early: bytes) -> None:
        self._client = client
        self._tls = tls
        self._begun = False  # the client said something
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
        """Most likely HTTP, whose client is told so; anything else is only cut off."""
        client = self._client
        if data[:1].isalpha():
            client.loop.replace(client.fd, client)
            client.unsecured(data)
        else:
            self._fail("not TLS")

    def _fail(self, reason: str) -> None:
        """Nothing to be excited about: scanners and old clients do it all the time."""
        client = self._client
        if not self._begun:  # it only looked whether the port is open
            client.close()
            return
        log.debug("no TLS with %s: %s", client.peer.decode(), reason)
        client.unshaken()
