"""The application's network: created, shared, left alone, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import UsageError
from tests.contract.runtimes import docker_runtime
from tests.docker.engine import Engine
from tests.runtime.docker.conftest import Make

pytestmark = pytest.mark.needs("docker")
NAME = "steelyard-app"


def create(docker: Engine, **labels: str) -> str:
    """Create a network and return its id; the engine allows a second one of the same name."""
    wish = {f"steelyard.{name}": value for name, value in labels.items()}
    return str(docker.ask("POST", "/networks/create", {"Name": NAME, "Labels": wish})["Id"])


def networks(docker: Engine) -> list[str]:
    return docker.things()["networks"]


@pytest.mark.parametrize(
    ("labels", "who"),
    [
        ({}, "somebody else"),
        ({"application": "blog"}, "application blog of somebody else"),
        ({"application": "app", "home": "/elsewhere"}, "application app of /elsewhere"),
    ],
)
async def test_a_name_in_use_is_told(
    docker: Engine, tmp_path: Path, labels: dict[str, str], who: str
) -> None:
    """The error names the owner of the network, and the network stays."""
    create(docker, **labels)
    with pytest.raises(UsageError, match=f"the network {NAME} is in use by {who}") as told:
        await docker_runtime(tmp_path).open()
    assert "`network` in the [runtime] section" in told.value.hint
    assert NAME in networks(docker)
    docker.ask("DELETE", f"/networks/{NAME}")


async def test_one_made_for_the_application_is_used_and_left(docker: Engine, make: Make) -> None:
    """A network with our label, as Compose makes it, is used and not removed."""
    create(docker, application="app")
    runtime = await make("sleep", "1000")
    await runtime.start("one")
    assert list(docker.inspect("one")["NetworkSettings"]["Networks"]) == [NAME]
    await runtime.stop("one", 0)
    await runtime.close()
    assert NAME in networks(docker)
    docker.ask("DELETE", f"/networks/{NAME}")
    await runtime.open()  # the fixture closes it again


async def test_it_stays_with_the_workers_and_goes_with_the_last(
    docker: Engine, tmp_path: Path
) -> None:
    """An agent that leaves its workers running leaves their network, too."""
    first = docker_runtime(tmp_path)
    await first.open()
    await first.start("one")
    await first.close()
    assert NAME in networks(docker)
    second = docker_runtime(tmp_path)
    await second.open()
    await second.stop("one", 0)
    await second.close()
    assert NAME not in networks(docker)


async def test_one_that_was_pruned_is_made_again(docker: Engine, make: Make) -> None:
    """`docker network prune` removes networks that nobody uses."""
    runtime = await make()
    docker.ask("DELETE", f"/networks/{NAME}")
    await runtime.start("one")
    assert list(docker.inspect("one")["NetworkSettings"]["Networks"]) == [NAME]


def ids(docker: Engine) -> list[str]:
    return [one["Id"] for one in docker.ask("GET", "/networks") if one["Name"] == NAME]


async def test_of_two_that_are_ours_the_older_stays(
    docker: Engine, make: Make, tmp_path: Path
) -> None:
    """If two agents created one each at the same time, all agents choose the older one."""
    first, _ = (create(docker, application="app", home=str(tmp_path)) for _ in range(2))
    await make()
    assert ids(docker) == [first]


async def test_two_that_are_not_ours_are_told(docker: Engine, tmp_path: Path) -> None:
    """Two networks of other owners are reported, not removed."""
    both = [create(docker, application="app") for _ in range(2)]
    with pytest.raises(UsageError, match=f"2 networks have the name {NAME}"):
        await docker_runtime(tmp_path).open()
    assert sorted(ids(docker)) == sorted(both)
    for one in both:
        docker.ask("DELETE", f"/networks/{one}")
