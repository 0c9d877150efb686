"""The assignment of listening sockets to processes."""

from __future__ import annotations

import socket

import pytest

from steelyard.config.values import Address
from steelyard.supervisor.port import Port

ANY = Address("127.0.0.1", 0)


@pytest.fixture
def port():
    made = Port.bind(ANY, 2)
    made.open(8)
    yield made
    made.close()


def test_every_socket_is_somebodys_at_any_number_of_processes(port):
    """Each socket is assigned to a process, or its clients would wait for ever."""
    before: set[int] = set()
    for processes in (2, 3, 1, 2, 5, 4, 1):
        shares = port.shares(processes)
        fds = [fd for share in shares for fd in share]
        assert len(shares) == processes
        assert all(shares)
        assert len(fds) == len({*fds})
        assert before <= {*fds}
        before = {*fds}
    assert len(before) == 5


def test_given_sockets_are_shared_by_more_processes():
    """Sockets from systemd are shared, and no socket is added to them."""
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    port = Port(ANY, socks, given=True)
    one, two = (sock.fileno() for sock in socks)
    assert port.shares(3) == [[one], [two], [one]]
    assert port.shares(1) == [[one, two]]
    port.close()


def test_sockets_for_a_generation_that_never_came_are_given_up(port):
    """Sockets that never listened can be closed, because no client is in their queue."""
    fds = {fd for share in port.shares(4) for fd in share}
    port.forget_unopened()
    assert len({fd for share in port.shares(2) for fd in share}) == len(fds) - 2


def test_a_shut_port_keeps_whom_it_has():
    """Clients in the accept queue are served; later ones are ignored, and then refused."""
    here = Port.bind(ANY, 1)
    here.open(8)
    address = tuple(here.address)
    with socket.create_connection(address) as early, socket.socket() as late:
        here.shut()
        late.settimeout(0.2)
        with pytest.raises(TimeoutError):
            late.connect(address)
        sock = socket.socket(fileno=here.shares(1)[0][0])
        accepted, peer = sock.accept()
        sock.detach()
        assert peer == early.getsockname()
        early.sendall(b"x")
        assert accepted.recv(1) == b"x"
        accepted.close()
        here.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
