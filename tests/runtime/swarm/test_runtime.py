"""What goes wrong with services: told clearly, and nothing is left of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import StartError, UsageError
from steelyard.runtime.base import Exit
from steelyard.runtime.engine.connection import EngineError
from steelyard.runtime.engine.image import ImageError
from steelyard.runtime.swarm.cluster import SwarmError
from steelyard.runtime.swarm.runtime import SwarmRuntime
from tests.contract.runtimes import leave_orphans, swarm_runtime
from tests.docker.engine import BASE, Engine
from tests.docker.swarm import Swarm
from tests.runtime.swarm.conftest import Make

pytestmark = pytest.mark.needs("swarm")
SLEEP = ("sleep", "1000")


async def next_exit(runtime: SwarmRuntime) -> Exit:
    return await anext(aiter(runtime.exits()))


def create(swarm: Swarm, name: str, **more: Any) -> str:
    """A service of somebody else's, that never runs; its id."""
    nowhere = {"Constraints": ["node.id==nowhere"]}
    template = {"ContainerSpec": {"Image": BASE}, "Placement": nowhere}
    wish = {"Name": name, "TaskTemplate": template, "EndpointSpec": {"Mode": "dnsrr"}, **more}
    return str(swarm.manager.ask("POST", "/services/create", wish)["ID"])


def names(swarm: Swarm) -> list[str]:
    return swarm.manager.things()["services"]


async def test_an_engine_that_is_down_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its place, and what to look at."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(EngineError, match="unix:///nowhere") as told:
        await swarm_runtime(tmp_path).open()
    assert "is dockerd running" in told.value.hint


@pytest.mark.needs("docker")
async def test_an_engine_in_no_swarm_is_told(docker: Engine, tmp_path: Path) -> None:
    """And nothing is made on it."""
    with pytest.raises(SwarmError, match="this engine is in no swarm") as told:
        await swarm_runtime(tmp_path).open()
    assert "docker swarm init" in told.value.hint


async def test_an_image_that_is_missing_is_told(swarm: Swarm, tmp_path: Path) -> None:
    """Nothing is made for an application that cannot run."""
    with pytest.raises(ImageError, match=r"no image nothing:1, and runtime\.pull is never"):
        await swarm_runtime(tmp_path, image="nothing:1").open()


async def test_a_network_name_in_use_is_told(swarm: Swarm, tmp_path: Path) -> None:
    """By somebody else's overlay, or by one that is no overlay though it is for us."""
    labels = {"steelyard.application": "app"}
    for wish, words in (
        ({"Driver": "overlay"}, "in use by somebody else"),
        ({"Driver": "bridge", "Labels": labels}, "on one machine only"),
    ):
        swarm.manager.ask("POST", "/networks/create", {"Name": "taken", **wish})
        with pytest.raises(UsageError, match=words) as told:
            await swarm_runtime(tmp_path, network="taken").open()
        assert "`network` in the [runtime] section" in told.value.hint
        swarm.manager.ask("DELETE", "/networks/taken")


async def test_two_agents_at_once_share_the_network(swarm: Swarm, make: Make) -> None:
    """Both find it missing, and one of them makes it."""
    await asyncio.gather(make(), make())
    assert swarm.manager.things()["networks"].count("steelyard-app") == 1


async def test_a_name_that_is_taken_is_told(swarm: Swarm, make: Make) -> None:
    """A service of somebody else's is never touched, whatever its name."""
    theirs = create(swarm, "one")
    runtime = await make()
    with pytest.raises(StartError, match="there is a service one already"):
        await runtime.start("one")
    await runtime.stop("one", 0)
    assert swarm.manager.ask("GET", "/services/one")["ID"] == theirs
    swarm.manager.ask("DELETE", "/services/one")


async def test_labels_of_ours_on_a_service_of_others(swarm: Swarm, make: Make) -> None:
    """It is not listed, adopted or removed: not even the name is right."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    labels = swarm.manager.ask("GET", "/services/one")["Spec"]["Labels"]
    create(swarm, "copy", Labels=labels)
    create(swarm, "other", Labels={**labels, "steelyard.home": "/elsewhere"})
    again = await make(*SLEEP)
    assert [worker.name for worker in await again.running()] == ["one"]
    assert names(swarm) == ["copy", "one", "other"]
    for name in ("copy", "other"):
        swarm.manager.ask("DELETE", f"/services/{name}")


async def test_no_node_for_a_worker_is_told(swarm: Swarm, make: Make) -> None:
    """In the swarm's words; the service does not stay behind to be placed one day."""
    runtime = await make(constraints=("node.labels.disk==fast",))
    with pytest.raises(StartError, match="no node takes worker one: no suitable node") as told:
        await runtime.start("one")
    assert "constraints" in told.value.hint
    assert names(swarm) == []


async def test_a_worker_that_ends_at_once_is_told(swarm: Swarm, make: Make) -> None:
    """At the start, or right after it; its last words can be read in both cases."""
    runtime = await make("sh", "-c", "echo sorry; exit 3")
    try:
        await runtime.start("one")
        reason = (await next_exit(runtime)).reason
    except StartError as error:
        reason = error.message
    assert "exit code 3" in reason
    assert "sorry" in await runtime.logs("one", 5)
    assert names(swarm) == []


async def test_what_ended_or_never_began_while_no_agent_looked_is_removed(
    swarm: Swarm, make: Make, tmp_path: Path
) -> None:
    """The next agent keeps its last words, and does not tell an end that it did not see."""
    command = ("sh", "-c", "echo bye; exec sleep 1000")
    await asyncio.to_thread(leave_orphans, "swarm", tmp_path, command, ["one", "two"])
    labels = swarm.manager.ask("GET", "/services/two")["Spec"]["Labels"]
    create(swarm, "three", Labels={**labels, "steelyard.worker": "three"})  # killed in a start
    swarm.kill("one")
    while [one for one in swarm.tasks() if one["Status"]["State"] == "failed"] == []:
        await asyncio.sleep(0.05)
    runtime = await make(*command)
    assert [worker.name for worker in await runtime.running()] == ["two"]
    assert names(swarm) == ["two"]
    assert await runtime.logs("one", 1) == "bye\n"


async def test_a_worker_whose_service_was_removed_is_told(swarm: Swarm, make: Make) -> None:
    """`docker service rm` by somebody who may."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    swarm.manager.ask("DELETE", "/services/one")
    assert (await next_exit(runtime)).name == "one"
    assert await runtime.running() == []


async def test_a_worker_that_ignores_its_signal_is_killed(make: Make) -> None:
    """After the grace that was asked for."""
    runtime = await make("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done")
    await runtime.start("one")
    while "deaf" not in await runtime.logs("one", 1):
        await asyncio.sleep(0.05)
    await runtime.stop("one", 0.1)
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL")


async def test_an_engine_that_restarts_takes_its_workers_with_it(swarm: Swarm, make: Make) -> None:
    """The runtime hears of their end when the manager is back, and starts new ones."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    swarm.manager.stop()
    with pytest.raises(EngineError, match="no Docker engine"):
        await runtime.running()
    swarm.manager.start()
    assert (await next_exit(runtime)).name == "one"
    await runtime.start("two")
    assert [worker.name for worker in await runtime.running()] == ["two"]


def test_an_image_and_a_port_are_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs an image, and the port"):
        swarm_runtime(tmp_path, port=None)
