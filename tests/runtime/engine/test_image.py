"""Pulling images with a real engine, from a registry that can be made to fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from aiodocker import Docker

from steelyard.runtime.engine.connection import connect
from steelyard.runtime.engine.image import Image, ImageError, Progress, PullError
from tests.docker.engine import Engine
from tests.docker.registry import registry

pytestmark = pytest.mark.needs("docker")
AT_ONCE = (0.0, 0.0)


@pytest.fixture
async def client(docker: Engine) -> AsyncIterator[Docker]:
    """A connection to the engine."""
    found, _ = await connect()
    yield found
    await found.close()


async def present(client: Docker, name: str) -> bool:
    return any(name in (one["RepoTags"] or []) for one in await client.images.list())


async def test_a_missing_image_is_pulled_once(
    client: Docker, caplog: pytest.LogCaptureFixture
) -> None:
    """Concurrent starts share one pull; an image that is present is not pulled again."""
    caplog.set_level(logging.INFO)
    with registry() as source:
        image = Image(source.image, "missing", AT_ONCE)
        await asyncio.gather(*(image.ensure(client) for _ in range(3)))
        assert await present(client, source.image)
        asked = source.asked
        await image.prepare(client)
        assert source.asked == asked
        assert caplog.text.count(f"pulled {source.image}: 1 of 1 layers") == 1
        await client.images.delete(source.image)


async def test_a_registry_that_fails_is_asked_again(
    client: Docker, caplog: pytest.LogCaptureFixture
) -> None:
    """Each failure is logged, with the pause after it."""
    with registry(failures=2) as source:
        image = Image(source.image, "missing", (0.01, 0.02))
        await image.ensure(client)
        assert await present(client, source.image)
        await client.images.delete(source.image)
    assert "again in 0.01 s" in caplog.text


async def test_a_registry_that_goes_on_failing_is_given_up(client: Docker) -> None:
    """The pull is given up after three tries; a later start may try again."""
    with registry(failures=1000) as source:
        image = Image(source.image, "missing", AT_ONCE)
        with pytest.raises(PullError, match=r"cannot be pulled: .*\(3 tries\)") as told:
            await image.ensure(client)
    assert told.value.retry
    assert "can this machine reach the registry?" in told.value.hint


async def test_a_registry_that_says_no_is_believed(client: Docker) -> None:
    """A wrong name is not asked for again."""
    with registry() as source:
        image = Image(f"127.0.0.1:{source.server_port}/app:2", "missing", (60.0,))
        with pytest.raises(ImageError, match=r"app:2 cannot be pulled: .*manifest") as told:
            await image.ensure(client)
    assert not told.value.retry


async def test_always_takes_the_newest_and_else_what_is_there(
    client: Docker, caplog: pytest.LogCaptureFixture
) -> None:
    """A registry that is down must not keep an agent from starting its workers."""
    with registry() as source:
        image = Image(source.image, "always", (0.0,))
        await image.prepare(client)
        asked = source.asked
        await image.prepare(client)
        assert source.asked > asked
    await image.prepare(client)
    assert "using the image that is already here" in caplog.text
    await client.images.delete(source.image)


def test_progress_counts_layers_and_bytes() -> None:
    """The progress is read from the engine's own messages."""
    progress = Progress()
    for layer, status, detail in [
        ("a", "Pulling fs layer", {}),
        ("b", "Pulling fs layer", {}),
        ("c", "Already exists", {}),
        ("a", "Downloading", {"current": 1_000_000, "total": 30_000_000}),
        ("b", "Downloading", {"current": 5_000_000, "total": 5_000_000}),
        ("b", "Pull complete", {}),
    ]:
        progress.take({"id": layer, "status": status, "progressDetail": detail})
    assert str(progress) == "2 of 3 layers, 6 of 35 MB"
