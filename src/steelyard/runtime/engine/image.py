"""The application's image: present, or pulled, with progress and back-off.

After an error of the registry the pull is repeated, with growing pauses. After a refusal it is not.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import Fault, SteelyardError
from steelyard.runtime.engine.connection import missing, told

log = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0)  # seconds between two attempts
_TELL_EVERY = 2.0  # seconds between two log lines about the progress
_CHECKED = (
    "the image's HEALTHCHECK is not run: the agent checks workers itself, by --health-path if it "
    "is given"
)
_REFUSALS = {400, 401, 403, 404}
# The stream of a pull tells no status, only messages.
_REFUSED = ("not found", "denied", "unauthorized", "no matching manifest", "manifest unknown")


class ImageError(SteelyardError):
    """The image does not exist, or may not be pulled."""

    fault = Fault.USER


class PullError(SteelyardError):
    """The registry did not deliver the image; it may do so later."""

    fault = Fault.PEER
    retry = True


@dataclass(slots=True)
class Progress:
    """The progress of a pull, from the engine's messages about each layer."""

    # bytes present, and bytes in total
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def take(self, told: dict[str, Any]) -> None:
        layer, status = told.get("id", ""), told.get("status", "")
        if status == "Pulling fs layer":
            self.layers[layer] = (0, 0)
        elif status == "Downloading":
            detail = told.get("progressDetail", {})
            self.layers[layer] = (detail.get("current", 0), detail.get("total", 0))
        elif status in {"Pull complete", "Already exists"}:
            self.layers.setdefault(layer, (0, 0))
            self.done.add(layer)

    def __str__(self) -> str:
        there, total = (sum(part) / 1e6 for part in zip(*self.layers.values(), strict=True))
        return f"{len(self.done)} of {len(self.layers)} layers, {there:.0f} of {total:.0f} MB"


class Image:
    """An image by its name, and the rule for pulling it."""

    def __init__(self, name: str, pull: str, pauses: tuple[float, ...] = PAUSES) -> None:
        self.name = name
        self.pull = pull
        self._pauses = pauses
        self._lock = asyncio.Lock()  # concurrent starts share one pull

    async def prepare(self, client: Docker) -> None:
        """Pull the image before the first start, if `runtime.pull` demands it or it is missing."""
        if self.pull == "always":
            await self._pull_or_keep(client)
        else:
            await self.ensure(client)

    async def ensure(self, client: Docker) -> None:
        """Pull the image if it is missing; raise ImageError or PullError if that fails."""
        async with self._lock:
            if await self.inspect(client) is not None:
                return
            if self.pull == "never":
                raise ImageError(
                    f"there is no image {self.name}, and runtime.pull is never",
                    hint=f"docker build -t {self.name} …, or docker pull {self.name}",
                )
            await self._try_pulling(client)

    async def inspect(self, client: Docker) -> Mapping[str, Any] | None:
        """The engine's description of the image; None if the engine does not have it."""
        with told(f"the image {self.name} cannot be inspected"):
            try:
                return await client.images.inspect(self.name)
            except DockerError as error:
                if missing(error):
                    return None
                raise

    async def notes(self, client: Docker) -> list[str]:
        """A message for people, if the image has a health check that is not run."""
        shown = await self.inspect(client)
        return [_CHECKED] if shown and checks_itself(shown) else []

    async def _pull_or_keep(self, client: Docker) -> None:
        """Pull the newest image; if that fails, keep the image that is present."""
        try:
            await self._try_pulling(client)
        except (ImageError, PullError) as error:
            if await self.inspect(client) is None:
                raise
            log.warning("%s; using the image that is already here", error.message)

    async def _try_pulling(self, client: Docker) -> None:
        for pause in (*self._pauses, None):
            try:
                await self._pull_once(client)
                return
            except DockerError as error:
                if _refused(error):
                    raise self._unknown(error) from error
                if pause is None:
                    raise self._given_up(error) from error
                log.warning("pulling %s: %s; again in %g s", self.name, error.message, pause)
                await asyncio.sleep(pause)

    async def _pull_once(self, client: Docker) -> None:
        log.info("pulling %s …", self.name)
        progress, said = Progress(), time.monotonic()
        async for word in client.images.pull(self.name, stream=True):
            progress.take(word)
            if progress.layers and time.monotonic() - said >= _TELL_EVERY:
                log.info("pulling %s: %s", self.name, progress)
                said = time.monotonic()
        log.info("pulled %s: %s", self.name, progress if progress.layers else "nothing new")

    def _unknown(self, error: DockerError) -> ImageError:
        return ImageError(
            f"the image {self.name} cannot be pulled: {error.message}",
            hint="is its name right? For your own image: docker build -t NAME …; for an image in a "
            "private registry: docker login, docker pull, and --runtime-pull missing",
        )

    def _given_up(self, error: DockerError) -> PullError:
        return PullError(
            f"the image {self.name} cannot be pulled: {error.message} "
            f"({len(self._pauses) + 1} tries)",
            hint=f"can this machine reach the registry? `docker pull {self.name}` tells; "
            "an image that is there already is not pulled",
        )


def checks_itself(shown: Mapping[str, Any]) -> bool:
    """Whether the image has a health check; `shown` is the engine's `GET /images/…/json`."""
    test = ((shown.get("Config") or {}).get("Healthcheck") or {}).get("Test") or ["NONE"]
    return bool(test != ["NONE"])


def _refused(error: DockerError) -> bool:
    words = error.message.lower()
    return error.status in _REFUSALS or any(word in words for word in _REFUSED)
