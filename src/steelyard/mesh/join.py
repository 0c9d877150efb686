"""How a program takes part in a mesh: its end of it, by default over Zenoh."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import UsageError
from steelyard.mesh.transport.security import Security

if TYPE_CHECKING:
    from steelyard.mesh.transport.zenoh.link import ZenohLink

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program listens, whom it joins, and which mesh that is."""

    join: Sequence[str] = ()  # endpoints of nodes that are there, any of them
    listen: Sequence[str] = ()  # our own; by default a free port on loopback
    mesh: str = "default"
    security: Security | None = None
    lease: float = 1.5  # seconds of silence after which another is gone; more for many nodes
    insecure: bool = False  # off loopback without certificates, all the same
    multicast: bool = False  # find the others on this network without being told

    @property
    def can_meet(self) -> bool:
        """Whether anybody can be found from here, or find us: nobody knows of a free port."""
        return bool(self.join or self.listen or self.multicast)


def open_link(place: Place) -> ZenohLink:
    """Join; whom we join may come later."""
    try:
        from steelyard.mesh.transport.zenoh.link import ZenohLink
    except ImportError as error:
        raise UsageError(
            f"the mesh needs {error.name}", hint="pip install 'steelyard[mesh]'"
        ) from None
    link = ZenohLink(
        place.listen,
        place.join,
        mesh=place.mesh,
        security=place.security,
        lease=place.lease,
        insecure=place.insecure,
        multicast=place.multicast,
    )
    link.watch_trouble(lambda trouble: log.warning("%s", trouble))
    return link
