"""The image's health check, in a network of its own, as in a container."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing

import pytest

from steelyard.health import listening
from tests.conftest import EMPTY_NETWORK

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0B00007F:A1B2 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 10001        0 2 1
   2: 0200D50A:1F90 0300D50A:9C40 01 00000000:00000000 00:00000000 00000000 10001        0 3 1
"""


def test_who_listens_is_read_from_the_kernels_table() -> None:
    """Connections and the engine's resolver do not count as listening ports."""
    assert list(listening(TABLE)) == [8080]


def test_the_kernels_own_table_has_our_port() -> None:
    """The table of this kernel is understood."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server, open("/proc/net/tcp") as table:
        assert server.getsockname()[1] in listening(table.read())


pytestmark = pytest.mark.needs("unshare")
LO_UP = "fcntl.ioctl(socket.socket(type=socket.SOCK_DGRAM), 0x8914, struct.pack('16sh', b'lo', 1))"


def check(*also: str) -> subprocess.CompletedProcess[str]:
    """Run the check in an empty network, after the statements of `also`."""
    program = ("import fcntl, socket, steelyard.health, struct, sys", LO_UP, *also)
    words = [
        *EMPTY_NETWORK,
        sys.executable,
        "-c",
        "; ".join((*program, "sys.exit(steelyard.health.main())")),
    ]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_healthy_is_who_accepts() -> None:
    """Listeners on loopback and on every address are healthy if they accept."""
    done = check(
        "a = socket.create_server(('127.0.0.1', 80))", "b = socket.create_server(('', 81))"
    )
    assert done.returncode == 0, done.stderr


def test_nobody_listens() -> None:
    """A container without any listening port is not healthy."""
    done = check()
    assert (done.returncode, done.stderr) == (1, "no port is listening\n")


def test_who_listens_but_does_not_accept() -> None:
    """A listener with a full backlog is not healthy."""
    fill = "clients = [socket.create_connection(('127.0.0.1', 80), 1)]"
    done = check("a = socket.create_server(('127.0.0.1', 80), backlog=0)", fill)
    assert (done.returncode, done.stderr) == (1, "port 80: timed out\n")
