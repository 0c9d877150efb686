"""Listening sockets."""

from __future__ import annotations

import socket

import pytest

from steelyard.config.values import Address
from steelyard.sockets import ListenError, bind_many, ensure_free, listen

ANY = Address("127.0.0.1", 0)


def port_of(sock: socket.socket) -> int:
    return sock.getsockname()[1]


def test_a_port_in_use_is_told_with_what_to_do():
    """The error names the address and the flag."""
    with listen(ANY, 1, "--listen") as taken:
        address = Address("127.0.0.1", port_of(taken))
        with pytest.raises(ListenError, match=rf"{address} is in use.*\n.*--listen"):
            listen(address, 1, "--listen")


def test_many_sockets_share_one_port():
    """A port chosen by the system is the same for all sockets."""
    socks = bind_many(ANY, 3, "--listen")
    assert len({port_of(sock) for sock in socks}) == 1
    for sock in socks:
        sock.close()


def test_a_shared_port_is_not_shared_with_a_stranger():
    """SO_REUSEPORT alone would let two gateways steal each other's clients."""
    socks = bind_many(ANY, 2, "--listen")
    with pytest.raises(ListenError, match="is in use"):
        ensure_free(Address("127.0.0.1", port_of(socks[0])), "--listen")
    for sock in socks:
        sock.close()


def test_an_address_that_is_not_ours_is_told():
    """A foreign address is an error with a message, not a traceback."""
    with pytest.raises(ListenError, match="cannot be listened on"):
        listen(Address("192.0.2.1", 0), 1, "--listen")
