"""The application's own network: on it a worker's name is its DNS name.

Made when it is missing, removed when the agent leaves and nobody is on it any more. One that
somebody else made is used only if it says that it is for this application (Compose can put the
label on it), and then it is theirs to remove.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import UsageError
from steelyard.runtime.engine.connection import missing, told
from steelyard.runtime.engine.labels import APPLICATION, HOME, Owner


class Network:
    """One network, by its name and driver: `bridge` on one machine, `overlay` on a swarm."""

    def __init__(self, name: str, owner: Owner, driver: str = "bridge") -> None:
        self.name = name
        self._owner = owner
        self._driver = driver

    async def ensure(self, client: Docker) -> str:
        """Have it, and its id; raise a UsageError when the name is somebody else's."""
        found = await self._find(client)
        if found is None:
            found = await self._create(client)
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
        with contextlib.suppress(DockerError):
            found = await self._find(client)
            if found is not None and self._owner.owns(found.get("Labels")):
                await (await client.networks.get(found["Id"])).delete()

    async def _find(self, client: Docker) -> dict[str, Any] | None:
        with told(f"the network {self.name} cannot be looked at"):
            try:
                found = await client.networks.get(self.name)
                return await found.show()
            except DockerError as error:
                if missing(error):
                    return None
                raise

    async def _create(self, client: Docker) -> dict[str, Any]:
        wish = {
            "Name": self.name,
            "Driver": self._driver,
            "CheckDuplicate": True,  # two agents at once would make two of one name
            "Attachable": True,  # by containers, not only by services
            "Labels": self._owner.labels(),
        }
        with told(f"the network {self.name} cannot be made"):
            try:
                return await (await client.networks.create(wish)).show()
            except DockerError:
                if (found := await self._find(client)) is not None:
                    return found  # another agent was faster
                raise


def _user(labels: Mapping[str, str]) -> str:
    if APPLICATION in labels:
        return f"application {labels[APPLICATION]} of {labels.get(HOME, 'somebody else')}"
    return "somebody else"
