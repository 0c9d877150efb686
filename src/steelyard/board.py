"""Board: the address at which a supervisor receives its balancers' accounts.

It is an abstract Unix socket (unix(7)), which leaves no file behind. Its name is drawn at random
and told to the balancers with their roles, so nobody can bind it first. But every user of the
machine can see the name, connect to it, and bind it when the supervisor is gone. So each side asks
the kernel who the other side is.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid


class Peer(NamedTuple):
    """The process at the other end of a Unix socket."""

    pid: int
    uid: int


def board_name(token: str) -> str:
    """The socket's name in the abstract namespace, which all users share."""
    return f"\0steelyard-board-{token}"


def peer_of(sock: socket.socket) -> Peer:
    """The peer's credentials from the kernel.

    For a listener they are those of the time when it began to listen.
    """
    data = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(data)
    return Peer(pid, uid)
