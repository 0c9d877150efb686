"""Tests of system calls, for the implementation in use: Python or C."""

from __future__ import annotations

import os
import select
import socket
import struct
from collections.abc import Iterator

import pytest

from steelyard.balancer.io.syscalls import (
    GONE,
    NOTHING,
    Pipe,
    Poller,
    is_quiet,
    monotonic,
    receive,
    transmit,
    transmit_both,
)

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """The two ends of a TCP connection, of which the first is non-blocking."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def test_receive(pair: Pair) -> None:
    """A receive gets bytes, nothing yet, the end of the stream or a reset."""
    ours, theirs = pair
    buffer = bytearray(8)
    assert receive(ours.fileno(), buffer) == NOTHING
    theirs.sendall(b"abc")
    select.select([ours], [], [], 5)
    assert receive(ours.fileno(), buffer) == 3
    assert buffer[:3] == b"abc"
    theirs.shutdown(socket.SHUT_WR)
    select.select([ours], [], [], 5)
    assert receive(ours.fileno(), buffer) == 0
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()
    select.select([], [ours], [], 5)
    assert receive(ours.fileno(), buffer) in (0, GONE)
    assert transmit(ours.fileno(), b"x") == GONE


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_transmit(pair: Pair, kind: type) -> None:
    """Bytes are sent from any kind of buffer."""
    ours, theirs = pair
    assert transmit(ours.fileno(), kind(b"abc")) == 3
    assert transmit_both(ours.fileno(), b"de", kind(b"f")) == 3
    assert theirs.recv(6, socket.MSG_WAITALL) == b"abcdef"


def test_a_peer_that_does_not_read(pair: Pair) -> None:
    """When the peer does not read, 0 bytes are sent in the end, which is not an error."""
    ours, _ = pair
    chunk = bytes(1 << 20)
    while transmit(ours.fileno(), chunk):
        pass
    assert transmit_both(ours.fileno(), b"a", b"b") == 0


def test_quiet(pair: Pair) -> None:
    """A socket is quiet until bytes or the end arrive, and the check consumes no bytes."""
    ours, theirs = pair
    assert is_quiet(ours.fileno())
    theirs.sendall(b"a")
    select.select([ours], [], [], 5)
    assert not is_quiet(ours.fileno())
    assert ours.recv(9) == b"a"
    assert is_quiet(ours.fileno())
    theirs.close()
    select.select([ours], [], [], 5)
    assert not is_quiet(ours.fileno())


def test_pipe(pair: Pair) -> None:
    """A pipe moves bytes between sockets, and bytes that are left in it can be read back."""
    ours, theirs = pair
    near, far = socket.socketpair()
    pipe, buffer = Pipe(), bytearray(9)
    with near, far:
        near.setblocking(False)
        assert pipe.fill(ours.fileno(), 9) == NOTHING
        theirs.sendall(b"abcdef")
        select.select([ours], [], [], 5)
        assert pipe.fill(ours.fileno(), 4) == 4
        assert pipe.pour(near.fileno(), 3) == 3
        assert far.recv(9) == b"abc"
        assert pipe.spill(buffer) == 1
        assert buffer[:1] == b"d"
        assert pipe.spill(buffer) == 0
        while transmit(near.fileno(), bytes(1 << 16)):
            pass
        assert pipe.fill(ours.fileno(), 9) == 2
        assert pipe.pour(near.fileno(), 2) == 0
        far.close()
        assert pipe.pour(near.fileno(), 2) == GONE
        theirs.close()
        select.select([ours], [], [], 5)
        assert pipe.fill(ours.fileno(), 9) == 0
    pipe.close()


def test_a_pipe_that_does_not_work() -> None:
    """Where splice does not work, no bytes are lost, and the caller can receive instead."""
    pipe, strange = Pipe(), os.eventfd(1)
    assert pipe.works
    assert pipe.fill(strange, 8) == NOTHING
    assert not pipe.works
    os.close(strange)
    pipe.close()


def test_poller(pair: Pair) -> None:
    """Events are level-triggered: each is reported until it is handled, changed or removed."""
    ours, theirs = pair
    poller = Poller()
    poller.add(ours.fileno(), select.EPOLLIN)
    assert poller.wait(0) == 0
    theirs.sendall(b"a")
    for _ in range(2):
        assert poller.wait(5) == 1
        assert (poller.fd(0), poller.mask(0)) == (ours.fileno(), select.EPOLLIN)
    poller.change(ours.fileno(), select.EPOLLOUT)
    assert poller.wait(5) == 1
    assert poller.mask(0) == select.EPOLLOUT
    poller.remove(ours.fileno())
    assert poller.wait(0) == 0
    with pytest.raises(FileNotFoundError):
        poller.remove(ours.fileno())
    poller.close()
    with pytest.raises((OSError, ValueError)):
        poller.wait(0)


def test_a_wait_lasts_as_long_as_asked() -> None:
    """A wait is never shorter than asked: a loop that woke too early would spin."""
    poller = Poller()
    read, write = os.pipe()
    poller.add(read, select.EPOLLIN)
    began = monotonic()
    poller.wait(0.02)
    assert monotonic() - began >= 0.02
    poller.close()
    os.close(read)
    os.close(write)
