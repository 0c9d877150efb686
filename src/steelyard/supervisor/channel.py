"""Channel: what a balancer and its parent say to each other before it serves.

    child   "ready"   it has a queue, or knows that there is none; it could accept now
    parent  "go"      it may; at the end of the channel instead of this it is not needed

A pair of sockets, so that either side sees the other one die. It stays open while both live: its
end tells a child that serves, or an agent, that the parent is gone.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

READY, GO = b"r", b"g"


def stand_by(channel: socket.socket) -> bool:
    """In the child: tell that all is there; True when the parent lets it serve."""
    try:
        channel.sendall(READY)
        return channel.recv(1) == GO
    except OSError:  # the parent has hung up
        return False


def is_over(channel: socket.socket) -> bool:
    """In a child that expects no word: whether the parent is gone."""
    try:
        return not channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


async def is_ready(channel: socket.socket) -> bool:
    """In the parent: wait for the child; False when it ended before."""
    try:
        return await asyncio.get_running_loop().sock_recv(channel, 1) == READY
    except OSError:
        return False


async def let_go(channel: socket.socket) -> bool:
    """In the parent: have it serve; False when it is gone."""
    try:
        await asyncio.get_running_loop().sock_sendall(channel, GO)
    except OSError:
        return False
    return True


def hang_up(channel: socket.socket) -> None:
    """In the parent: have it end without having served."""
    with suppress(OSError):  # it is gone already
        channel.shutdown(socket.SHUT_RDWR)
