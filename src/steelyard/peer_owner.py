"""Finds the user at the other end of a TCP connection within this machine.

Any user of the machine may listen on a free loopback port: on the agent's while the agent restarts,
or on a worker's before the worker has bound it. A program that connects to such a port can ask the
kernel whose socket accepted the connection (sock_diag(7), one socket per question). The answer
costs about as much as the connection itself, and needs no rights.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import Fault, SteelyardError

_NETLINK_SOCK_DIAG = 4  # linux/netlink.h
_REQUEST = 1  # NLM_F_REQUEST
_BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
_TIMEOUT = 1.0  # seconds; the kernel answers within the call that asks
_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr: length, type, flags, sequence, port
_QUESTION = struct.Struct("=BBBxI")  # struct inet_diag_req_v2: family, protocol, ext, states
_PORTS = struct.Struct("!HH")
_ANY = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # any interface, no cookie
_OWNER = struct.Struct("=II")  # two fields of struct inet_diag_msg: uid, inode
_OWNER_AT = _HEADER.size + 64
_ANYWHERE: dict[int, tuple[str, int]] = {socket.AF_INET: ("0.0.0.0", 0), socket.AF_INET6: ("::", 0)}


class StrangerError(SteelyardError):
    """Another user of the machine listens where a program of ours should."""

    fault = Fault.MACHINE


class _Socket(NamedTuple):
    uid: int
    inode: int  # 0: no process has it, as it is not accepted yet, or not any more


_UNOWNED = _Socket(0, 0)


class PeerOwners:
    """Asks the kernel, over one socket for many questions: opening it takes longer than asking."""

    def __init__(self) -> None:
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC
        self._kernel = socket.socket(socket.AF_NETLINK, kind, _NETLINK_SOCK_DIAG)
        self._kernel.settimeout(_TIMEOUT)
        self._numbers = count(1)

    def close(self) -> None:
        self._kernel.close()

    def of(self, sock: socket.socket) -> int | None:
        """The user id at the other end; None if that is on another machine, or unknown.

        Before Linux 6.17, a connection that waits to be accepted has no owner; its listener's is
        returned.
        """
        try:
            ours, theirs = sock.getsockname()[:2], sock.getpeername()[:2]
            found = self._find(sock.family, theirs, ours)
            if found == _UNOWNED:
                found = self._find(sock.family, theirs, _ANYWHERE[sock.family]) or found
        except OSError:  # the connection has ended, or a sandbox gives no answer
            return None
        return None if found is None else found.uid

    def of_listener(self, family: int, address: tuple[str, int]) -> int | None:
        """The user id that listens on an address of this machine; None if none is known."""
        try:
            found = self._find(family, address, _ANYWHERE[family])
        except OSError:
            return None
        return None if found is None else found.uid

    def _find(
        self, family: int, source: tuple[str, int], destination: tuple[str, int]
    ) -> _Socket | None:
        """The socket, perhaps a listener, that a packet from `destination` to `source` reaches."""
        body = (
            _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0xFFFFFFFF)
            + _PORTS.pack(source[1], destination[1])
            + _packed(family, source[0])
            + _packed(family, destination[0])
            + _ANY
        )
        number = next(self._numbers) % 2**32
        head = _HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, number, 0)
        self._kernel.send(head + body)
        while True:
            answer = self._kernel.recv(8192)
            _, kind, _, answered, _ = _HEADER.unpack_from(answer)
            if answered == number:
                break
        if kind != _BY_FAMILY:  # an error: there is no such socket
            return None
        return _Socket(*_OWNER.unpack_from(answer, _OWNER_AT))


def peer_owner(sock: socket.socket) -> int | None:
    """Like `PeerOwners.of`, for a single question."""
    try:
        with closing(PeerOwners()) as owners:
            return owners.of(sock)
    except OSError:  # a sandbox without sock_diag
        return None


def require_agent(sock: socket.socket, token_file: Path) -> None:
    """Raise StrangerError if a stranger listens in the agent's place, before the token is sent.

    The token's owner is the agent's user. If the other end is on another machine or in a container,
    its user is unknown, and accepted.
    """
    owner = peer_owner(sock)
    if owner not in (None, 0, os.geteuid(), token_file.stat().st_uid):
        host, port = sock.getpeername()[:2]
        raise StrangerError(
            f"a program of another user (uid {owner}) listens on {host}:{port}, in the agent's "
            "place; nothing was sent to it",
            hint=f"`ss -ltnp` shows it; if it is the agent, {token_file} must belong to its user",
        )


def _packed(family: int, host: str) -> bytes:
    return socket.inet_pton(family, host.partition("%")[0]).ljust(16, b"\0")
