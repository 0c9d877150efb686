"""Guard: notices that a worker's port now belongs to another user.

When a worker dies, another program can bind its port, and some milliseconds pass until the agent
has told the balancer of the death. Meanwhile requests, with their cookies, would go to that
program. The agent has checked the port's owner before it let the worker serve. The balancer reads
the owner when the queue first lets the worker serve, and compares each new connection with it.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from contextlib import suppress

from steelyard.peer_owner import PeerOwners

log = logging.getLogger(__name__)

_TRUSTED = (0, os.geteuid())  # the same users as in the agent's `runtime.scan.may_own`


class Guard:
    """Checks that a worker's port still belongs to the user who owned it at first."""

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
        self._asked: tuple[PeerOwners, PeerOwners] | None = None  # control thread, data thread
        with suppress(OSError):  # in a sandbox without sock_diag, owners are unknown
            self._asked = PeerOwners(), PeerOwners()

    def guard(self, family: int, address: tuple[str, int]) -> Guard | None:
        """Return a guard, or None if the port's owner is unknown, as on another machine."""
        if (
            self._asked is None
            or not ipaddress.ip_address(address[0].partition("%")[0]).is_loopback
        ):
            return None
        ours, datas = self._asked
        owner = ours.of_listener(family, address)
        return None if owner is None else Guard(owner, datas)
