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

# What systemd does between fork and exec: it numbers the descriptors, and says for whom they are.
EXEC = """
import os, sys
names, fds, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
for number, fd in enumerate(fds):
    os.dup2(int(fd), 3 + number)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)), LISTEN_FDNAMES=names)
os.execv(command[0], command)
"""


def wrapper(*socks: socket.socket, names: str) -> tuple[list[str], list[int]]:
    """How to start a command with these; they must have high numbers, not to be overwritten."""
    fds = [os.dup2(sock.fileno(), 50 + number) for number, sock in enumerate(socks)]
    return [sys.executable, "-c", EXEC, names, ",".join(map(str, fds))], fds


def shared(count: int) -> list[socket.socket]:
    first = socket.create_server(("127.0.0.1", 0), reuse_port=True)
    rest = (socket.create_server(first.getsockname(), reuse_port=True) for _ in range(count - 1))
    return [first, *rest]


@pytest.mark.parametrize(("sockets", "processes"), [(1, 2), (2, 2), (3, 2)])
def test_clients_are_served_on_given_sockets(proxy, worker, sockets, processes):
    """Fewer sockets than processes, as many, or more: each is accepted from, also after a reload;
    and after the end they are there for the next."""
    socks = shared(sockets)
    words, fds = wrapper(*socks, names=":".join(["steelyard.socket"] * sockets))
    p = proxy(worker.port, processes=processes).start(*words, pass_fds=fds)
    configured, p.port = p.port, socks[0].getsockname()[1]
    for _ in range(2):
        for _ in range(4 * sockets):  # whichever socket the kernel chooses
            with p.call() as client:
                client.send(GET)
                assert client.answer().status == 200
        p.reload()
    with pytest.raises(ConnectionRefusedError):
        p.call(configured)
    assert p.close() == 0
    with p.call():
        pass  # it waits for whoever comes next
    for fd in fds:
        os.close(fd)
    for sock in socks:
        sock.close()


def test_only_those_named_gateway_are_taken(proxy, worker):
    """When some are named so."""
    (other,), (ours,) = shared(1), shared(1)
    words, fds = wrapper(other, ours, names="metrics:gateway")
    p = proxy(worker.port).start(*words, pass_fds=fds)
    p.port = ours.getsockname()[1]
    with p.call() as client:
        client.send(GET)
        assert client.answer().status == 200
    with p.call(other.getsockname()[1]):
        other.settimeout(LONG)
        other.accept()[0].close()  # it was left to whom it is for
    for fd in fds:
        os.close(fd)


def test_a_wrong_socket_is_told(worker):
    """By a real command, with what to change."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        words, fds = wrapper(udp, names="dns.socket")
        command = [sys.executable, "-m", "steelyard", "balancer", "--worker", "127.0.0.1:1"]
        done = subprocess.run(
            [*words, *command], pass_fds=fds, capture_output=True, text=True, timeout=LONG
        )
        os.close(fds[0])
    assert done.returncode == 2
    assert "gave as 3 (dns.socket) is not of TCP" in done.stderr
    assert "ListenStream=" in done.stderr


@pytest.mark.parametrize(
    ("make", "flaw"),
    [
        (lambda: socket.socket(socket.AF_UNIX), "not of TCP"),
        (lambda: socket.socket(), "not listening"),
        (lambda: open(os.devnull), "no socket"),  # noqa: SIM115
    ],
)
def test_kinds_that_nobody_can_accept_from(make, flaw, monkeypatch):
    """Each is named."""
    with make() as thing:
        monkeypatch.setattr("steelyard.supervisor.activation.FIRST", thing.fileno())
        with pytest.raises(UsageError, match=flaw):
            given_sockets({"LISTEN_PID": "7", "LISTEN_FDS": "1"}, 7)


def test_sockets_for_another_process_are_not_ours():
    """As those that a parent forgot in its environment; they are not passed on either."""
    environ = {"LISTEN_PID": "8", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x", "PATH": "/bin"}
    assert given_sockets(environ, 7) == []
    assert environ == {"PATH": "/bin"}
