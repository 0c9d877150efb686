"""`docker compose up` in this repository: the parts start, die one by one, and recover."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.core.status import FleetStatus
from tests.compose.images import load
from tests.compose.project import IMAGE, WORKER, Project, serves, until
from tests.docker.engine import Engine
from tests.e2e.load import Load

pytestmark = [
    pytest.mark.needs("docker"),
    pytest.mark.needs("compose"),
    pytest.mark.timeout(1800),
]

WORKERS = 2
GIVEN_UP = "the old configuration stays in force"


@pytest.fixture(scope="module")
def system(private_docker: Engine) -> Iterator[Project]:
    """The system, started as docs/deployment.md says; after the tests only images are left."""
    before = private_docker.things()
    load(private_docker)
    project = Project(private_docker)
    project.build()
    with private_docker.network.entered(), contextlib.ExitStack() as stack:
        stack.callback(project.clear)
        project.compose("up", "--detach", "--no-build")
        yield project
        project.compose("up", "--detach", "--no-build", "agent", ON_STOP="stop")
        asyncio.run(project.fleet(serves(WORKERS)))
        project.compose("down", "--volumes")
        assert private_docker.things() == before


def workers(system: Project) -> dict[str, str]:
    """The container of each worker by name, whatever its state."""
    found = system.engine.ask("GET", "/containers/json?all=1")
    return {one["Labels"][WORKER]: one["Id"] for one in found if WORKER in one["Labels"]}


def names(told: FleetStatus) -> set[str]:
    return {worker.name for worker in told.workers}


def uid(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Uid:")))


async def test_it_comes_up(system: Project) -> None:
    """Both workers answer through a port on loopback; their own ports are not published."""
    told = await system.fleet(serves(WORKERS))
    assert workers(system).keys() == names(told)
    load = Load(system.port, "/whoami", connections=2)
    async with load.running():
        await load.more(100)
    assert load.failed == []
    assert load.workers.keys() == workers(system).keys()
    for one in workers(system).values():
        assert system.engine.inspect(one)["HostConfig"]["PortBindings"] in ({}, None)
    published = system.engine.inspect(system.container("balancer"))["HostConfig"]["PortBindings"]
    assert published == {"8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(system.port)}]}
    await until(lambda: system.records().keys() != set(), "Redis has no record")


@pytest.mark.parametrize("part", ["agent", "balancer"])
async def test_parts_are_not_root(system: Project, part: str) -> None:
    """The parts run without root and capabilities; only the agent has the engine's socket."""
    shown = system.engine.inspect(system.container(part))
    assert uid(system.pid(part)) == 10001
    assert shown["HostConfig"]["CapDrop"] == ["ALL"]
    assert shown["HostConfig"]["ReadonlyRootfs"]
    sockets = [one for one in shown["Mounts"] if one["Destination"] == "/var/run/docker.sock"]
    assert len(sockets) == (1 if part == "agent" else 0)


async def test_redis_is_killed(system: Project) -> None:
    """No request fails, and Redis has the records again."""
    told = await system.fleet(serves(WORKERS))
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        system.kill(system.container("redis"))
        await system.restarted("redis")
        await load.more(20)
        count = len(told.workers)
        await until(lambda: len(system.records()) == count, "Redis lacks records")
    assert load.failed == []
    assert names(told) == workers(system).keys()


async def test_a_worker_is_killed(system: Project) -> None:
    """Another worker replaces the killed one, and no request fails."""
    await system.fleet(serves(WORKERS))
    before = workers(system)
    victim = min(before)
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        system.kill(before[victim])
        told = await system.fleet(lambda told: serves(WORKERS)(told) and victim not in names(told))
        await load.more(20)
    assert load.failed == []
    assert workers(system).keys() == names(told)
    assert len(workers(system).keys() - before.keys()) == 1


async def test_the_agent_is_killed(system: Project) -> None:
    """The next agent adopts the same workers, and no request fails."""
    await system.fleet(serves(WORKERS))
    before = workers(system)
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        system.kill(system.container("agent"))
        await system.restarted("agent")
        told = await system.fleet(serves(WORKERS))
        await load.more(20)
    assert load.failed == []
    assert {decision.action for decision in told.decisions} == {"adopt"}
    assert workers(system) == before


async def test_the_agent_is_upgraded(system: Project) -> None:
    """Compose recreates the agent's container; the workers stay, and no request fails."""
    await system.fleet(serves(WORKERS))
    before, old = workers(system), system.container("agent")
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        await system.do("up", "--detach", "--no-build", "--no-deps", "--force-recreate", "agent")
        assert system.container("agent") != old
        await system.fleet(serves(WORKERS))
        await load.more(20)
    assert load.failed == []
    assert workers(system) == before


async def test_the_application_is_upgraded(system: Project) -> None:
    """The new agent has another image; each worker is drained, and replaced by one of it."""
    system.engine.ask("POST", f"/images/{IMAGE}/tag?repo=steelyard&tag=next")
    await system.fleet(serves(WORKERS))
    before = workers(system)
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        agent = ("--no-deps", "agent")
        await system.do("up", "--detach", "--no-build", *agent, DOCKER_IMAGE="steelyard:next")
        for old in before:
            await system.fleet(serves(WORKERS))
            await system.do("exec", "-T", "agent", "steelyard", "drain", old)
        await system.fleet(
            lambda told: serves(WORKERS)(told) and before.keys().isdisjoint(names(told))
        )
        await load.more(20)
    assert load.failed == []
    images = {system.engine.inspect(one)["Config"]["Image"] for one in workers(system).values()}
    assert images == {"steelyard:next"}


async def test_the_balancer_is_reloaded(system: Project) -> None:
    """The next generation of balancers takes over the port, and no request fails."""
    await system.fleet(serves(WORKERS))
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        asked = 0
        while not later_generation(await asyncio.to_thread(system.status)):
            # On a machine that is too busy, a reload is given up, and the old balancers serve on.
            given_up = (await system.do("logs", "--no-color", "balancer")).count(GIVEN_UP)
            if given_up == asked:
                hang_up = "kill -HUP $(cat /proc/1/task/1/children)"
                await system.do("exec", "-T", "balancer", "sh", "-c", hang_up)
                asked += 1
        await load.more(20)
    assert load.failed == []


def later_generation(told: FleetStatus | None) -> bool:
    """Whether all balancers were started by a reload: `balancer-0.2@…`."""
    linked = [one.name for one in told.balancers if one.connected] if told else []
    return len(linked) == 2 and all("." in name.partition("@")[0] for name in linked)


async def test_the_balancer_is_killed(system: Project) -> None:
    """New clients are refused while the only balancer is away, and served again afterwards."""
    await system.fleet(serves(WORKERS))
    before = workers(system)
    load = Load(system.port, "/sleep?ms=20")
    async with load.running():
        await load.more(20)
        system.kill(system.container("balancer"))
        await system.restarted("balancer")
        await system.fleet(serves(WORKERS))
        await load.more(50)
    assert workers(system) == before


async def test_everything_at_once(system: Project) -> None:
    """After the death of all parts at once, the workers are adopted, and requests are served."""
    await system.fleet(serves(WORKERS))
    before = workers(system)
    for part in ("redis", "agent", "balancer"):
        system.kill(system.container(part))
    await system.fleet(serves(WORKERS))
    load = Load(system.port, "/whoami", connections=2)
    async with load.running():
        await load.more(20)
    assert load.failed == []
    assert workers(system) == before
