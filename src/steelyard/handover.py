"""Hand-over: a balancer without a supervisor gives its listening sockets to the next supervisor.

    heir       connects to the hand-over socket, a Unix socket in the gateway's folder
    balancer   answers with one byte and its listening sockets (SCM_RIGHTS); none when it drains

The folder is closed to other users (private_folder). Both sides ask the kernel for the other side's
credentials all the same: root, or a folder that was open once, must not make us trust a stranger.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from steelyard.board import peer_of

_WORD = b"s"
_MOST = 253  # file descriptors in one message: SCM_MAX_FD of the kernel


class StrangerError(OSError):
    """What answers is not the process that should."""


def listen_at(path: Path) -> socket.socket:
    """Listen at this path; a file that a killed process left there goes."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        with suppress(FileNotFoundError):
            path.unlink()
        with _short(path) as name:
            listening.bind(name)
        path.chmod(0o600)
        listening.listen()
    except BaseException:
        listening.close()
        raise
    return listening


def give(heir: socket.socket, sockets: Sequence[socket.socket]) -> bool:
    """Give them away, if the one who asks is our own user."""
    if peer_of(heir).uid != os.geteuid():
        return False
    socket.send_fds(heir, [_WORD], [sock.fileno() for sock in sockets])
    return True


def take(path: Path, pid: int, patience: float) -> list[socket.socket]:
    """The listening sockets of the balancer with this pid, which must be our own user's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(patience)
        with _short(path) as name:
            link.connect(name)
        peer = peer_of(link)
        if (peer.pid, peer.uid) != (pid, os.geteuid()):
            raise StrangerError(f"process {peer.pid} of user {peer.uid} answers for {pid}")
        word, fds, _, _ = socket.recv_fds(link, len(_WORD), _MOST)
    sockets = [socket.socket(fileno=fd) for fd in fds]
    if word != _WORD:
        for sock in sockets:
            sock.close()
        raise ConnectionResetError("it gave nothing")
    return sockets


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """The path by a descriptor of its folder: the kernel takes 107 bytes of a path at most."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
