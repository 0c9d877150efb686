"""How a program joins a mesh: its address, and its link, by default over Zenoh."""

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
    """Where a program listens, which nodes it joins, and which mesh that is."""

    join: Sequence[str] = ()  # endpoints of nodes of the mesh; one that is up is enough
    listen: Sequence[str] = ()  # our own; by default a free port on loopback
    mesh: str = "default"
    security: Security | None = None
    # Seconds of silence after which a peer counts as gone; longer for many nodes.
    lease: float = 1.5
    insecure: bool = False  # whether to do without certificates off loopback
    multicast: bool = False  # whether to find the others on this network by multicast

    @property
    def can_meet(self) -> bool:
        """Whether other nodes can be found from here, or can find us: nobody knows our free
        port.
        """
        return bool(self.join or self.listen or self.multicast)


def open_link(place: Place, give_up: Callable[[str], None] | None = None) -> ZenohLink:
    """Open a link. The nodes that we join may come later. `give_up` is called with the reason when
    waiting for them is of no use, and again while that is so.
    """
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
