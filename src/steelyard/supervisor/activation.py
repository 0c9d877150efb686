"""Activation: listening sockets that systemd opened for us; sd_listen_fds(3).

The sockets are file descriptors from 3 on, LISTEN_FDS of them, for the process LISTEN_PID alone. If
some have the name `gateway` (FileDescriptorName=), only those are ours. The variables are removed
from the environment, because the sockets are not for workers.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import MutableMapping

from steelyard.errors import UsageError

FIRST = 3  # SD_LISTEN_FDS_START
OURS = "gateway"


def given_sockets(environ: MutableMapping[str, str], pid: int) -> list[socket.socket]:
    """The sockets meant for this process; none if systemd did not start it."""
    meant_for, count, names = (
        environ.pop(f"LISTEN_{name}", "") for name in ("PID", "FDS", "FDNAMES")
    )
    if meant_for != str(pid) or not count.isdecimal():
        return []
    named = dict(zip(range(FIRST, FIRST + int(count)), names.split(":"), strict=False))
    fds = [fd for fd, name in named.items() if name == OURS]
    return [_listening(fd, named.get(fd, "")) for fd in fds or range(FIRST, FIRST + int(count))]


def _listening(fd: int, name: str) -> socket.socket:
    what = _flaw(fd)
    if what:
        raise UsageError(
            f"the socket that systemd gave as {fd}{f' ({name})' if name else ''} is {what}",
            hint="in its .socket unit: ListenStream=HOST:PORT, and not Accept=yes",
        )
    sock = socket.socket(fileno=fd)
    sock.setblocking(False)
    sock.set_inheritable(False)
    return sock


def _flaw(fd: int) -> str:
    """Why no connection can be accepted on this descriptor; empty if one can."""
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            return "not a socket"
    except OSError:
        return "not open"
    with socket.socket(fileno=os.dup(fd)) as sock:
        if sock.family not in (socket.AF_INET, socket.AF_INET6) or sock.type != socket.SOCK_STREAM:
            return "not a TCP socket"
        if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return "not listening"
    return ""
