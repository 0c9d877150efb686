"""Guard: notices that a worker's port belongs to another user than before.

A worker that dies leaves its port to whoever binds it next, and some milliseconds pass until the
agent has told. Requests, with the cookies in them, would go to that program meanwhile. The agent
has looked at the port's owner before it let the worker serve; a balancer notes the owner when the
queue says so, and compares each new connection with that.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from contextlib import suppress

from steelyard.peer_owner import PeerOwners

log = logging.getLogger(__name__)

_TRUSTED = (0, os.geteuid())  # as the agent has it: `runtime.scan.may_own`


class Guard:
    """Knows the user of one worker's port."""

    def __init__(self, owner: int, owners: PeerOwners) -> None:
        self._known = (None, owner, *_TRUSTED)
        self._owners = owners
        self._told = False

    def admits(self, worker: str, sock: socket.socket) -> bool:
        """Whether a request may be sent over this new connection to the worker of that name."""
        owner = self._owners.of(sock)
        if owner in self._known:
            return True
        if not self._told:
            self._told = True
            log.warning("another user (uid %s) has the port of %s: it gets nothing", owner, worker)
        return False


class Guards:
    """Makes the guards of workers on this machine, in the control thread."""

    def __init__(self) -> None:
        self._asked: tuple[PeerOwners, PeerOwners] | None = None  # one for each thread
        with suppress(OSError):  # a sandbox without sock_diag: nobody can tell
            self._asked = PeerOwners(), PeerOwners()

    def guard(self, family: int, address: tuple[str, int]) -> Guard | None:
        """None: nobody can tell who listens there, as on another machine."""
        if (
            self._asked is None
            or not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback
        ):
            return None
        ours, datas = self._asked
        owner = ours.of_listener(family, address)
        return None if owner is None else Guard(owner, datas)
