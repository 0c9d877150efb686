"""The engines of the nodes that we can reach: our own, and those that `runtime.engines` names.

A manager knows the states of tasks, but not their usage. Only the engine that runs a container has
its counters, and can signal it at once.
"""

from __future__ import annotations

import logging

from aiodocker import Docker

from steelyard.errors import SteelyardError
from steelyard.runtime.engine.connection import connect
from steelyard.runtime.swarm.cluster import Node

log = logging.getLogger(__name__)

UNSEEN = (
    "the usage of workers on other nodes is not measured, and they count as idle; runtime.engines "
    "tells how to reach their engines"
)


class Engines:
    """One client per node, connected when it is first needed."""

    def __init__(self, place: str | None) -> None:
        self.notes: list[str] = []
        self._place = place
        self._own = ""
        self._clients: dict[str, Docker] = {}

    def open(self, node: str, client: Docker) -> None:
        """Set our own node, and the client of its engine."""
        self._own = node
        self._clients[node] = client
        self.notes.clear()

    async def close(self) -> None:
        """Close the clients of other nodes; the client of our own engine belongs to the runtime."""
        self._clients.pop(self._own, None)
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def of(self, node: Node) -> Docker | None:
        """The client of the node's engine; None if it cannot be reached, with a note about that."""
        if node.id not in self._clients and self._place is not None:
            await self._reach(node, self._place.format(name=node.name, address=node.address))
        elif node.id not in self._clients:
            self._note(UNSEEN)
        return self._clients.get(node.id)

    async def _reach(self, node: Node, url: str) -> None:
        try:
            client, _ = await connect(url)
        except SteelyardError as error:
            self._note(f"the usage of workers on node {node.name} is not measured: {error.message}")
            return
        if node.id in self._clients:  # another start was faster
            await client.close()
            return
        self._clients[node.id] = client
        self.notes[:] = [note for note in self.notes if f"node {node.name} " not in note]

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
            log.warning("%s", note)
