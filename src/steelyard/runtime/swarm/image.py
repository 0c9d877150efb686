"""The name by which nodes are told of the image.

A node pulls what it is told of by a tag each time it starts a task, and so may run another image
than the next node. What is named by its digest is the same everywhere, and pulled only where it is
missing; what is named by its id is never pulled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiodocker import Docker

from steelyard.runtime.engine.connection import told
from steelyard.runtime.engine.image import Image


async def reference(client: Docker, image: Image) -> str:
    """The name for nodes, from what the manager's engine has."""
    with told(f"the image {image.name} cannot be looked at"):
        return pinned(await client.images.inspect(image.name), image.name, image.pull)


def pinned(shown: Mapping[str, Any], name: str, pull: str) -> str:
    """By id, where it must not be pulled; by digest, where a registry gave one; or just by name."""
    if pull == "never":
        return str(shown["Id"])
    if "@" in name:
        return name
    for known in shown.get("RepoDigests") or []:
        repository, _, digest = known.partition("@")
        if name == repository or name.rpartition(":")[0] == repository:
            return f"{name}@{digest}"
    return name
