"""Hand-over: a balancer without a supervisor gives its listening sockets to the next supervisor.

    heir       connects to the hand-over socket, a Unix socket in the gateway's folder
    balancer   answers with one byte and its listening sockets (SCM_RIGHTS); none if it drains

Other users cannot enter the folder (private_folder). Both sides ask the kernel for the other side's
credentials all the same: root may act for others, and the folder may have been open once.
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
    """Another process answers than the one that should."""


def listen_at(path: Path) -> socket.socket:
    """Listen at this path; remove a file that a killed process left there."""
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
    """Send the sockets, if the heir runs as our own user; return whether it does."""
    if peer_of(heir).uid != os.geteuid():
        return False
    socket.send_fds(heir, [_WORD], [sock.fileno() for sock in sockets])
    return True


def take(path: Path, pid: int, patience: float) -> list[socket.socket]:
    """Receive the listening sockets of the balancer with this pid, which runs as our user."""
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
        raise ConnectionResetError("it gave no sockets")
    return sockets


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """A short name of the path, through a descriptor of its folder: the kernel allows 107 bytes."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
