"""The name by which nodes are told of the image.

If an image is named by a tag, a node pulls it each time it starts a task, and so may run another
image than the next node does. An image named by its digest is the same everywhere, and is pulled
only where it is missing. An image named by its id is never pulled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiodocker import Docker

from steelyard.runtime.engine.connection import told
from steelyard.runtime.engine.image import Image


async def reference(client: Docker, image: Image) -> str:
    """The image's name for nodes, from what the manager's engine has."""
    with told(f"the image {image.name} cannot be inspected"):
        return pinned(await client.images.inspect(image.name), image.name, image.pull)


def pinned(shown: Mapping[str, Any], name: str, pull: str) -> str:
    """By id, if it must not be pulled; by digest, if a registry gave one; otherwise by its name."""
    if pull == "never":
        return str(shown["Id"])
    if "@" in name:
        return name
    for known in shown.get("RepoDigests") or []:
        repository, _, digest = known.partition("@")
        if name == repository or name.rpartition(":")[0] == repository:
            return f"{name}@{digest}"
    return name
