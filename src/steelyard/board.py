"""Board: the address at which a supervisor takes its balancers' accounts.

An abstract Unix socket (unix(7)): nothing to clean up. Its name is drawn at random and told to the
balancers with their roles, so nobody can take it first. Every user of the machine can see the name
and connect to it, or take it when the supervisor is gone, so both sides look at who the other side
is.
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


def board_name(token: str) -> str:
    """The socket's name in the abstract namespace, which all users share."""
    return f"\0steelyard-board-{token}"


def peer_of(sock: socket.socket) -> Peer:
    """As the kernel knows it; of a listener, who it was when it began to listen."""
    data = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return Peer(pid, uid)
