"""How a program takes part in a mesh: its end of it, by default over Zenoh."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import UsageError
from steelyard.mesh.transport.base import Trouble
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


def open_link(place: Place, give_up: Callable[[str], None] | None = None) -> ZenohLink:
    """Join; whom we join may come later. `give_up` hears why nobody will, as long as it is so."""
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

    def tell(trouble: Trouble) -> None:
        log.warning("%s", trouble.text)
        if trouble.lasting and give_up is not None:
            give_up(trouble.text)

    link.watch_trouble(tell)
    return link
