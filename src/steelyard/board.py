"""Board: the address at which a supervisor takes its balancers' accounts.

An abstract Unix socket (unix(7)), named after the supervisor's process: nothing to clean up, and
nothing to hand down. Anybody on the machine may connect to such a name, or take it first, so both
sides look at who the other one is.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid


class Peer(NamedTuple):
    """Who is at the other end."""

    pid: int
    uid: int


def board_name(supervisor: int) -> str:
    """Of the supervisor with this pid."""
    return f"\0steelyard-board-{supervisor}"


def peer_of(sock: socket.socket) -> Peer:
    """As the kernel knows it; of a listener, who it was when it began to listen."""
    data = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return Peer(pid, uid)
