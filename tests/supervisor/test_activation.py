"""Sockets from systemd: real processes, started with the descriptors that it would give them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from steelyard.errors import UsageError
from steelyard.supervisor.activation import given_sockets
from tests.balancer.stage import GET
from tests.supervisor.proxy import LONG

# Between fork and exec, systemd numbers the descriptors and sets variables that describe them.
EXEC = """
import os, sys
names, fds, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
for number, fd in enumerate(fds):
    os.dup2(int(fd), 3 + number)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)), LISTEN_FDNAMES=names)
os.execv(command[0], command)
"""


def wrapper(*socks: socket.socket, names: str) -> tuple[list[str], list[int]]:
    """The words that start a command with these sockets, and their descriptors."""
    fds = [os.dup2(sock.fileno(), 50 + number) for number, sock in enumerate(socks)]
    return [sys.executable, "-c", EXEC, names, ",".join(map(str, fds))], fds


def shared(count: int) -> list[socket.socket]:
    first = socket.create_server(("127.0.0.1", 0), reuse_port=True)
    rest = (socket.create_server(first.getsockname(), reuse_port=True) for _ in range(count - 1))
    return [first, *rest]


@pytest.mark.parametrize(("sockets", "processes"), [(1, 2), (2, 2), (3, 2)])
def test_clients_are_served_on_given_sockets(proxy, worker, sockets, processes):
    """Clients of each given socket are served, however many processes there are, also after a
    reload; after the end the sockets stay open for the next start."""
    socks = shared(sockets)
    words, fds = wrapper(*socks, names=":".join(["steelyard.socket"] * sockets))
    p = proxy(worker.port, processes=processes).start(*words, pass_fds=fds)
    configured, p.port = p.port, socks[0].getsockname()[1]
    for _ in range(2):
        for _ in range(4 * sockets):  # enough connections for the kernel to use each socket
            with p.call() as client:
                client.send(GET)
                assert client.answer().status == 200
        p.reload()
    with pytest.raises(ConnectionRefusedError):
        p.call(configured)
    assert p.close() == 0
    with p.call():
        pass  # the client can still connect, and waits for the next start
    for fd in fds:
        os.close(fd)
    for sock in socks:
        sock.close()


def test_only_those_named_gateway_are_taken(proxy, worker):
    """If some sockets are named `gateway`, the others are left alone."""
    (other,), (ours,) = shared(1), shared(1)
    words, fds = wrapper(other, ours, names="metrics:gateway")
    p = proxy(worker.port).start(*words, pass_fds=fds)
    p.port = ours.getsockname()[1]
    with p.call() as client:
        client.send(GET)
        assert client.answer().status == 200
    with p.call(other.getsockname()[1]):
        other.settimeout(LONG)
        other.accept()[0].close()  # the balancer does not accept on this socket
    for fd in fds:
        os.close(fd)


def test_a_wrong_socket_is_told(worker):
    """The command names the wrong socket, and says what to change in its unit."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        words, fds = wrapper(udp, names="dns.socket")
        command = [sys.executable, "-m", "steelyard", "balancer", "--worker", "127.0.0.1:1"]
        done = subprocess.run(
            [*words, *command], pass_fds=fds, capture_output=True, text=True, timeout=LONG
        )
        os.close(fds[0])
    assert done.returncode == 2
    assert "gave as 3 (dns.socket) is not a TCP socket" in done.stderr
    assert "ListenStream=" in done.stderr


@pytest.mark.parametrize(
    ("make", "flaw"),
    [
        (lambda: socket.socket(socket.AF_UNIX), "not a TCP socket"),
        (lambda: socket.socket(), "not listening"),
        (lambda: open(os.devnull), "not a socket"),  # noqa: SIM115
    ],
)
def test_kinds_that_nobody_can_accept_from(make, flaw, monkeypatch):
    """The error says why no connection can be accepted on a descriptor."""
    with make() as thing:
        monkeypatch.setattr("steelyard.supervisor.activation.FIRST", thing.fileno())
        with pytest.raises(UsageError, match=flaw):
            given_sockets({"LISTEN_PID": "7", "LISTEN_FDS": "1"}, 7)


def test_sockets_for_another_process_are_not_ours():
    """Sockets with another LISTEN_PID are ignored, and their variables are removed."""
    environ = {"LISTEN_PID": "8", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x", "PATH": "/bin"}
    assert given_sockets(environ, 7) == []
    assert environ == {"PATH": "/bin"}
