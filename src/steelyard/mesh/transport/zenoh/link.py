"""A link over Zenoh: one session in peer mode."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import zenoh

from steelyard.errors import Fault, SteelyardError, UsageError
from steelyard.mesh.transport import endpoints
from steelyard.mesh.transport.base import (
    VERSION,
    OnFailure,
    OnPeer,
    OnQuery,
    OnReply,
    OnTrouble,
    Trouble,
)
from steelyard.mesh.transport.later import Later
from steelyard.mesh.transport.security import Security, secure_endpoints
from steelyard.mesh.transport.zenoh import config
from steelyard.mesh.transport.zenoh.asking import Asking
from steelyard.mesh.transport.zenoh.doubts import Doubts
from steelyard.mesh.transport.zenoh.healing import Healing
from steelyard.mesh.transport.zenoh.keys import Keys
from steelyard.mesh.transport.zenoh.presence import Roles
from steelyard.mesh.transport.zenoh.serving import Serving
from steelyard.mesh.transport.zenoh.sockets import Hasten
from steelyard.mesh.transport.zenoh.threads import few_threads

ANYWHERE = "127.0.0.1:0"  # a node that no other connects to still needs an address to listen on

SHORTEST_LEASE, LONGEST_LEASE = 0.3, 3600.0  # seconds


class LinkError(SteelyardError):
    """This node cannot be linked to the mesh."""

    fault = Fault.MACHINE
    retry = True


class ZenohLink:
    """One node's end of the mesh."""

    def __init__(
        self,
        listen: Sequence[str] = (),
        join: Sequence[str] = (),
        *,
        mesh: str = "default",
        security: Security | None = None,
        insecure: bool = False,
        lease: float = config.LEASE,
        multicast: bool = False,
        version: str = VERSION,
    ) -> None:
        if not SHORTEST_LEASE <= lease <= LONGEST_LEASE:
            hint = f"give {SHORTEST_LEASE} s to {LONGEST_LEASE:.0f} s"
            raise UsageError(f"a lease of {lease} s is not possible", hint=hint)
        if security is not None:
            security.context()  # it raises an error if a file is of no use
        keys = Keys(mesh, version)
        given = secure_endpoints(listen or [ANYWHERE], security, insecure=insecure)
        for one in given:
            if (why := endpoints.obstacle(one)) is not None:
                raise LinkError(f"cannot listen on {one}: {why}", hint="give another address")
        here = [endpoints.settle(one) for one in given]
        there = secure_endpoints(join, security, insecure=insecure)
        settings = config.member(
            here, there, security, lease=lease, multicast=multicast, keys=keys.everything
        )
        try:
            with few_threads():
                self._session = zenoh.open(settings)
        except zenoh.ZError as error:
            listed = ", ".join(map(str, here))
            # Cut off the position in Zenoh's source, which is of no use here.
            said = str(error).partition(" at /")[0]
            raise LinkError(
                f"cannot listen on {listed}: {said}", hint="try again, or give another address"
            ) from None
        self._hasten = Hasten(self._session)
        self._identity = str(self._session.zid())
        self.locators = [str(one) for each in here for one in endpoints.locators(each)]
        self._later = Later("steelyard-link")
        self._lock = threading.Lock()
        self._closed = False
        self._troubles: list[Trouble] = []
        self._on_trouble: OnTrouble | None = None
        parts = (self._session, keys, self._identity)
        self._asking = Asking(*parts, self._later)
        self._serving = Serving(*parts)
        self._roles = Roles(*parts, self._later)
        self._healing = Healing(
            self._session,
            keys,
            self.locators[0],
            lambda found: config.introducer(found, security, lease),
            self._serving.forget,
            self._meet_stranger,
        )
        self._version = version
        self._strangers: set[str] = set()
        self._healing.start(self.locators)
        self._doubts = Doubts(there, security, lambda: not self.peers(), self._complain)

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def healed(self) -> int:
        """The number of links that were found missing and made."""
        return self._healing.healed

    def ask(self, peer: str, payload: bytes, on_reply: OnReply, on_failure: OnFailure) -> None:
        self._asking.ask(peer, payload, on_reply, on_failure)

    def serve(self, on_query: OnQuery) -> None:
        self._serving.serve(on_query)

    def announce(self, role: str, info: bytes = b"") -> None:
        self._roles.announce(role, info)

    def watch(self, on_appeared: OnPeer, on_gone: OnPeer) -> None:
        self._roles.watch(on_appeared, on_gone)

    def watch_trouble(self, on_trouble: OnTrouble) -> None:
        with self._lock:
            self._on_trouble = on_trouble
            before, self._troubles = self._troubles, []
        for trouble in before:
            self._later(lambda trouble=trouble: on_trouble(trouble))  # type: ignore[misc]

    def peers(self) -> list[str]:
        return self._healing.linked

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._asking.closed = self._serving.closed = True
        self._doubts.close()
        self._roles.withdraw()
        self._healing.close()
        self._later.close()
        self._session.close()

    def _meet_stranger(self, identity: str, version: str) -> None:
        if identity not in self._strangers:
            self._strangers.add(identity)
            text = (
                f"node {identity} speaks version {version} of the mesh, and this node"
                f" version {self._version}: they do not work together; run one release on both"
            )
            self._complain(Trouble(text, lasting=True))

    def _complain(self, trouble: Trouble) -> None:
        with self._lock:
            tell = self._on_trouble
            if tell is None:
                self._troubles.append(trouble)
                return
        self._later(lambda: tell(trouble))
