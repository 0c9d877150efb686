"""The application's own network: on it a worker's name is its DNS name.

Made when it is missing, removed when the agent leaves and nobody is on it any more. One that
somebody else made is used only if it says that it is for this application (Compose can put the
label on it), and then it is theirs to remove.
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
        """Have it, and its id; raise a UsageError when the name is somebody else's."""
        with told(f"the network {self.name} cannot be had"):
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
        # Of an overlay that has just been made the manager does not know the driver yet.
        if self._driver == "overlay" and found["Scope"] != "swarm":
            raise UsageError(
                f"the network {self.name} is on one machine only, and not an overlay of the swarm",
                hint="let the agent make one under another name, with `network` in the [runtime] "
                f"section, or docker network create --driver overlay --attachable {self.name}",
            )

    async def remove(self, client: Docker) -> None:
        """Remove it if it is ours and nobody is on it; the engine knows both best."""
        with told(f"the network {self.name} cannot be removed"):
            for found in await self._find(client):
                await self._remove(client, found)

    async def _find(self, client: Docker) -> list[dict[str, Any]]:
        """All of that name, the oldest first; the engine's filter takes it for a part of one."""
        found = await client.networks.list(filters={"name": [self.name]})
        named = [one for one in found if one["Name"] == self.name]
        return sorted(named, key=lambda one: (one["Created"], one["Id"]))

    async def _create(self, client: Docker) -> None:
        wish = {
            "Name": self.name,
            "Driver": self._driver,
            "CheckDuplicate": True,  # in vain, where two are asked for at the same moment
            "Attachable": True,  # by containers, not only by services
            "Labels": self._owner.labels(),
        }
        try:
            await client.networks.create(wish)
        except DockerError:
            if not await self._find(client):
                raise  # else another agent was faster

    async def _sole(self, client: Docker) -> dict[str, Any]:
        """The only one, of which each agent has the same idea: the oldest. Two agents at once can
        each have made one, as the engine looks for the name first and makes one then. As long as
        there are two, no container gets onto either of them."""
        found = await self._find(client)
        found = found[:1] + [one for one in found[1:] if not await self._remove(client, one)]
        if not found:
            raise EngineError(f"the network {self.name} was removed as it was looked for")
        if len(found) > 1:
            raise UsageError(
                f"{len(found)} networks have the name {self.name}",
                hint=f"remove all but one by its id: docker network ls --filter name={self.name}",
            )
        return found[0]

    async def _remove(self, client: Docker, found: Mapping[str, Any]) -> bool:
        """Whether it is gone: not if it is not ours, nor if somebody is on it."""
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
