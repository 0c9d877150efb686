"""Channel: what a balancer and its parent say to each other before the balancer serves.

    child   "ready"   the child could accept clients now: it has a queue, or knows there is none
    parent  "go"      the child may serve; if the channel is closed instead, it must end

The channel is a pair of sockets, so that either side notices when the other dies. It stays open
while both live: when it closes, a balancer that serves, or an agent, knows that its parent is gone.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

READY, GO = b"r", b"g"


def stand_by(channel: socket.socket) -> bool:
    """In the child: say that it is ready; return whether the parent lets it serve."""
    try:
        channel.sendall(READY)
        return channel.recv(1) == GO
    except OSError:  # the parent has closed the channel
        return False


def is_over(channel: socket.socket) -> bool:
    """In a child that expects no message: whether the parent is gone."""
    try:
        return not channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


async def is_ready(channel: socket.socket) -> bool:
    """In the parent: wait until the child is ready; False if it ended before."""
    try:
        return await asyncio.get_running_loop().sock_recv(channel, 1) == READY
    except OSError:
        return False


async def let_go(channel: socket.socket) -> bool:
    """In the parent: let the child serve; False if it is gone."""
    try:
        await asyncio.get_running_loop().sock_sendall(channel, GO)
    except OSError:
        return False
    return True


def hang_up(channel: socket.socket) -> None:
    """In the parent: close the channel, so that the child ends without having served."""
    with suppress(OSError):  # the child is gone already
        channel.shutdown(socket.SHUT_RDWR)
