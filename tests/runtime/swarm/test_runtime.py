"""Failures of services are reported clearly, and leave nothing behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import StartError, UsageError
from steelyard.runtime.base import Exit
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
    """Create a service of somebody else that never runs; return its id."""
    nowhere = {"Constraints": ["node.id==nowhere"]}
    template = {"ContainerSpec": {"Image": BASE}, "Placement": nowhere}
    wish = {"Name": name, "TaskTemplate": template, "EndpointSpec": {"Mode": "dnsrr"}, **more}
    return str(swarm.manager.ask("POST", "/services/create", wish)["ID"])


def names(swarm: Swarm) -> list[str]:
    return swarm.manager.things()["services"]


@pytest.mark.needs("docker")
async def test_an_engine_in_no_swarm_is_told(docker: Engine, tmp_path: Path) -> None:
    """An engine without a swarm is refused, and nothing is created on it."""
    with pytest.raises(SwarmError, match="this engine is in no swarm") as told:
        await swarm_runtime(tmp_path).open()
    assert "docker swarm init" in told.value.hint


async def test_a_network_name_in_use_is_told(swarm: Swarm, tmp_path: Path) -> None:
    """An overlay of somebody else is refused, and a network with our label that is no overlay."""
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


async def test_a_name_that_is_taken_is_told(swarm: Swarm, make: Make) -> None:
    """A service of somebody else is never touched, whatever its name."""
    theirs = create(swarm, "one")
    runtime = await make()
    with pytest.raises(StartError, match="there is a service one already"):
        await runtime.start("one")
    await runtime.stop("one", 0)
    assert swarm.manager.ask("GET", "/services/one")["ID"] == theirs
    swarm.manager.ask("DELETE", "/services/one")


async def test_labels_of_ours_on_a_service_of_others(swarm: Swarm, make: Make) -> None:
    """A service with our labels but another name is not listed, adopted or removed."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    labels = swarm.manager.ask("GET", "/services/one")["Spec"]["Labels"]
    create(swarm, "copy", Labels={**labels, "steelyard.worker": "ghost"})
    create(swarm, "other", Labels={**labels, "steelyard.home": "/elsewhere"})
    again = await make(*SLEEP)
    assert [worker.name for worker in await again.running()] == ["one"]
    assert names(swarm) == ["copy", "one", "other"]
    for name in ("copy", "other"):
        swarm.manager.ask("DELETE", f"/services/{name}")


async def test_no_node_for_a_worker_is_told(swarm: Swarm, make: Make) -> None:
    """The error has the swarm's words, and the service does not stay behind."""
    runtime = await make(constraints=("node.labels.disk==fast",))
    with pytest.raises(StartError, match="no node takes worker one: no suitable node") as told:
        await runtime.start("one")
    assert "constraints" in told.value.hint
    assert names(swarm) == []


async def test_what_ended_or_never_began_while_no_agent_looked_is_removed(
    swarm: Swarm, make: Make, tmp_path: Path
) -> None:
    """The next agent keeps the last lines, and does not report an end that it did not see."""
    command = ("sh", "-c", "echo bye; exec sleep 1000")
    await asyncio.to_thread(leave_orphans, "swarm", tmp_path, command, ["one", "two"])
    labels = swarm.manager.ask("GET", "/services/two")["Spec"]["Labels"]
    # as an agent killed during a start would leave it
    create(swarm, "three", Labels={**labels, "steelyard.worker": "three"})
    swarm.kill("one")
    while [one for one in swarm.tasks() if one["Status"]["State"] == "failed"] == []:
        await asyncio.sleep(0.05)
    runtime = await make(*command)
    assert [worker.name for worker in await runtime.running()] == ["two"]
    assert names(swarm) == ["two"]
    assert await runtime.logs("one", 1) == "bye\n"


async def test_a_worker_whose_service_was_removed_is_told(swarm: Swarm, make: Make) -> None:
    """The end of a worker is reported after `docker service rm` by somebody else."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    swarm.manager.ask("DELETE", "/services/one")
    assert (await next_exit(runtime)).name == "one"
    assert await runtime.running() == []
