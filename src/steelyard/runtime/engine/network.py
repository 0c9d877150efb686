"""The application's own network, on which a worker's name is its DNS name.

The network is created if it is missing, and removed when the agent closes and no container uses it.
A network that somebody else made is used only if its labels name this application (Compose can set
the label), and is then not ours to remove.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import UsageError
from steelyard.runtime.engine.connection import EngineError, missing, told
from steelyard.runtime.engine.labels import APPLICATION, HOME, Owner


class Network:
    """One network, by its name and driver: `bridge` on one machine, `overlay` on a swarm."""

    def __init__(self, name: str, owner: Owner, driver: str = "bridge") -> None:
        self.name = name
        self._owner = owner
        self._driver = driver

    async def ensure(self, client: Docker) -> str:
        """Create the network if it is missing; return its id.

        Raise UsageError if a network of that name is not for this application.
        """
        with told(f"the network {self.name} cannot be used"):
            if not await self._find(client):
                await self._create(client)
            found = await self._sole(client)
        self._check(found)
        return str(found["Id"])

    def _check(self, found: Mapping[str, Any]) -> None:
        labels = found.get("Labels") or {}
        theirs = labels.get(APPLICATION) != self._owner.application
        if theirs or labels.get(HOME, self._owner.home) != self._owner.home:
            raise UsageError(
                f"the network {self.name} is in use by {_user(labels)}",
                hint="choose another name with `network` in the [runtime] section, or remove it: "
                f"docker network rm {self.name}",
            )
        # The manager does not know the driver of an overlay that has just been made, so the scope
        # is checked.
        if self._driver == "overlay" and found["Scope"] != "swarm":
            raise UsageError(
                f"the network {self.name} is on one machine only, and not an overlay of the swarm",
                hint="let the agent make one under another name, with `network` in the [runtime] "
                f"section, or docker network create --driver overlay --attachable {self.name}",
            )

    async def remove(self, client: Docker) -> None:
        """Remove the network if it is ours; the engine refuses while somebody uses it."""
        with told(f"the network {self.name} cannot be removed"):
            for found in await self._find(client):
                await self._remove(client, found)

    async def _find(self, client: Docker) -> list[dict[str, Any]]:
        """All networks of that name, the oldest first.

        The engine's filter also matches parts of names.
        """
        found = await client.networks.list(filters={"name": [self.name]})
        named = [one for one in found if one["Name"] == self.name]
        return sorted(named, key=lambda one: (one["Created"], one["Id"]))

    async def _create(self, client: Docker) -> None:
        wish = {
            "Name": self.name,
            "Driver": self._driver,
            "CheckDuplicate": True,  # does not help if two agents create one at the same moment
            "Attachable": True,  # containers may join, too, not only services
            "Labels": self._owner.labels(),
        }
        try:
            await client.networks.create(wish)
        except DockerError:
            if not await self._find(client):
                raise  # otherwise another agent was faster

    async def _sole(self, client: Docker) -> dict[str, Any]:
        """The one network of that name: the oldest, on which all agents agree.

        Younger networks of ours are removed. Two agents may create one each at the same time, since
        the engine checks the name before it creates the network. While there are two, no container
        can join either of them.
        """
        found = await self._find(client)
        found = found[:1] + [one for one in found[1:] if not await self._remove(client, one)]
        if not found:
            raise EngineError(f"the network {self.name} was removed while it was looked up")
        if len(found) > 1:
            raise UsageError(
                f"{len(found)} networks have the name {self.name}",
                hint=f"remove all but one by its id: docker network ls --filter name={self.name}",
            )
        return found[0]

    async def _remove(self, client: Docker, found: Mapping[str, Any]) -> bool:
        """Remove a network; False if it is not ours, or still in use."""
        if not self._owner.owns(found.get("Labels")):
            return False
        try:
            await (await client.networks.get(found["Id"])).delete()
        except DockerError as error:
            return missing(error)
        return True


def _user(labels: Mapping[str, str]) -> str:
    if APPLICATION in labels:
        return f"application {labels[APPLICATION]} of {labels.get(HOME, 'somebody else')}"
    return "somebody else"
