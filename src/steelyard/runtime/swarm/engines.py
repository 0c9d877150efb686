"""The engines of the nodes, as far as we can talk to them: our own, and those that
`runtime.engines` says how to reach.

A manager tells how tasks are, and nothing of what they use. Only the engine that runs a container
has its counters, and can signal it at once.
"""

from __future__ import annotations

import logging

from aiodocker import Docker

from steelyard.errors import SteelyardError
from steelyard.runtime.engine.connection import connect
from steelyard.runtime.swarm.cluster import Node

log = logging.getLogger(__name__)

UNSEEN = (
    "the usage of workers on other nodes is not seen, and they count as idle; runtime.engines "
    "says how their engines are reached"
)


class Engines:
    """A client per node, made when it is first needed."""

    def __init__(self, place: str | None) -> None:
        self.notes: list[str] = []
        self._place = place
        self._own = ""
        self._clients: dict[str, Docker] = {}

    def open(self, node: str, client: Docker) -> None:
        """This is our own node, and our engine."""
        self._own = node
        self._clients[node] = client
        self.notes.clear()

    async def close(self) -> None:
        """Our own engine is not ours to close."""
        self._clients.pop(self._own, None)
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def of(self, node: Node) -> Docker | None:
        """The node's engine; None: it cannot be reached, which is noted."""
        if node.id not in self._clients and self._place is not None:
            await self._reach(node, self._place.format(name=node.name, address=node.address))
        elif node.id not in self._clients:
            self._note(UNSEEN)
        return self._clients.get(node.id)

    async def _reach(self, node: Node, url: str) -> None:
        try:
            client, _ = await connect(url)
        except SteelyardError as error:
            self._note(f"the usage of workers on node {node.name} is not seen: {error.message}")
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
