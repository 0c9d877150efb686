"""Premises: the image and network that one application has on an engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiodocker import Docker

from steelyard.config import settings
from steelyard.core.usage import Allowance
from steelyard.errors import UsageError
from steelyard.runtime.engine.image import Image
from steelyard.runtime.engine.labels import Owner
from steelyard.runtime.engine.limits import enforced
from steelyard.runtime.engine.network import Network


class Premises:
    """An application's image and network, under its labels, and its limits that are in force."""

    def __init__(
        self,
        application: settings.Application,
        runtime: settings.Runtime,
        folder: Path,
        driver: str,
    ) -> None:
        if runtime.image is None or runtime.port is None:
            raise UsageError(
                f"runtime {runtime.kind} needs an image, and the port that it listens on",
                hint=f"steelyard up --runtime {runtime.kind} --image IMAGE --port N",
            )
        self.owner = Owner(application.name, str(folder.resolve()))
        self.image = Image(runtime.image, runtime.pull)
        name = runtime.network or f"steelyard-{application.name}"
        self.network = Network(name, self.owner, driver)
        self.port = runtime.port
        self.allowance = Allowance()
        self._wanted = Allowance(runtime.cpus, runtime.memory)

    async def enter(self, client: Docker, info: Mapping[str, Any]) -> list[str]:
        """Prepare image and network before the first start; return messages for people.

        `info` is the engine's description of itself, `GET /info`.
        """
        self.allowance, notes = enforced(self._wanted, info)
        await self.image.prepare(client)
        await self.network.ensure(client)
        return [*notes, *await self.image.notes(client)]
