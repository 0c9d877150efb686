"""Failures that both engines share are reported clearly, and leave nothing behind.

The fixtures check that: after every test, containers, services, networks and volumes are as before.
Names and labels that others use are tested for each engine separately.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.errors import StartError, UsageError
from steelyard.runtime.base import Exit
from steelyard.runtime.engine.connection import EngineError
from steelyard.runtime.engine.image import ImageError
from tests.docker.engine import Engine
from tests.runtime.engine.conftest import Make, Runtime
from tests.waiting import until, wait_until

New = Callable[..., Runtime]
SLEEP = ("sleep", "1000")
SECOND = 10**9  # nanoseconds
TAKE = """
import socket, sys, time
taken = []
for port in range(int(sys.argv[1]), int(sys.argv[2])):
    taken.append(socket.socket())
    try:
        taken[-1].bind(("0.0.0.0", port))
        taken[-1].listen()
    except OSError:
        pass  # then somebody else has it
print("taken", flush=True)
time.sleep(1000)
"""


async def next_exit(runtime: Runtime) -> Exit:
    return await anext(aiter(runtime.exits()))


async def start_and_end(runtime: Runtime) -> str:
    """Why a short-lived worker ended, whether `start` saw it alive or not."""
    try:
        await runtime.start("one")
        return (await next_exit(runtime)).reason
    except StartError as error:
        return error.message


async def said(runtime: Runtime, word: str) -> None:
    async def look() -> bool:
        return word in await runtime.logs("one", 5)

    await until(look)


@pytest.mark.parametrize("url", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1", "nonsense"])
async def test_an_engine_that_is_down_is_told(
    url: str, new: New, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the engine's address, and what to check."""
    monkeypatch.setenv("DOCKER_HOST", url)
    with pytest.raises(EngineError, match=url) as told:
        await new(tmp_path).open()
    assert "is dockerd running" in told.value.hint


async def test_an_image_that_is_missing_is_told(new: New, engine: Engine, tmp_path: Path) -> None:
    """Nothing is created for an application that cannot run."""
    with pytest.raises(ImageError, match=r"no image nothing:1, and runtime\.pull is never"):
        await new(tmp_path, image="nothing:1", pull="never").open()


async def test_an_image_that_goes_missing_is_told(engine: Engine, make: Make) -> None:
    """After `docker image prune` by somebody else, the next start fails with a remedy."""
    commit(engine, "gone:1")
    runtime = await make(*SLEEP, image="gone:1", pull="never")
    engine.ask("DELETE", "/images/gone:1")
    with pytest.raises(ImageError, match="no image gone:1"):
        await runtime.start("one")
    assert await runtime.running() == []


async def test_two_agents_at_once_share_the_network(engine: Engine, make: Make) -> None:
    """Both agents find the network missing, and one of them creates it."""
    await asyncio.gather(make(), make())
    assert engine.things()["networks"].count("steelyard-app") == 1


async def test_ports_that_are_taken_are_passed_over(engine: Engine, make: Make) -> None:
    """The engine does not give out a port that is in use on its machine."""
    runtime = await make(*SLEEP)
    first = (await runtime.start("one")).port
    words = ("python3", "-c", TAKE, str(first + 1), str(first + 3))
    engine.run("taker", *words, HostConfig={"NetworkMode": "host"})
    try:
        await asyncio.to_thread(wait_until, lambda: has_said(engine, "taker", "taken"), 60)
        second = (await runtime.start("two")).port
    finally:
        engine.remove("taker")
    assert second not in range(first, first + 3)


def has_said(engine: Engine, container: str, word: str) -> bool:
    """Whether a container that is not ours printed this; the engine answers None for no output."""
    return word in (engine.ask("GET", f"/containers/{container}/logs?stdout=1") or "")


async def test_a_worker_that_ends_at_once_is_told(make: Make) -> None:
    """The end is reported by the start or right after it, and the log can be read in both cases."""
    runtime = await make("sh", "-c", "echo sorry; exit 3")
    assert "exit code 3" in await start_and_end(runtime)
    assert "sorry" in await runtime.logs("one", 5)
    assert await runtime.running() == []


async def test_a_worker_that_ignores_its_signal_is_killed(make: Make) -> None:
    """A worker that ignores its stop signal is killed after the given grace."""
    runtime = await make("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done")
    await runtime.start("one")
    await said(runtime, "deaf")
    await runtime.stop("one", 0.1)
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL")


async def test_an_engine_that_restarts_takes_its_workers_with_it(
    engine: Engine, make: Make
) -> None:
    """The ends are reported when the engine is back, and new workers can be started."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    engine.stop()
    with pytest.raises(EngineError, match="no Docker engine"):
        await runtime.running()
    engine.start()
    assert (await next_exit(runtime)).name == "one"
    await runtime.start("two")
    assert [worker.name for worker in await runtime.running()] == ["two"]


def commit(engine: Engine, name: str, **config: object) -> None:
    """Make an image that differs from the base image only by this configuration."""
    repository, tag = name.split(":")
    made = engine.run("trial", "true", HostConfig={"NetworkMode": "none"})
    engine.ask("POST", f"/commit?container={made}&repo={repository}&tag={tag}", config)
    engine.remove("trial")


@pytest.fixture
def never_well(engine: Engine) -> Iterator[str]:
    """An image whose health check fails soon, and always."""
    check = {"Test": ["CMD", "false"], "Interval": SECOND // 5, "Retries": 1}
    commit(engine, "checked:1", Healthcheck=check)
    yield "checked:1"
    engine.ask("DELETE", "/images/checked:1?force=1")  # a swarm keeps its containers for a while


async def test_a_health_check_of_the_image_is_not_run(
    engine: Engine, never_well: str, make: Make
) -> None:
    """The agent decides about health: nobody waits for the check or ends a worker for it."""
    runtime = await make(
        "sh", "-c", "echo up; exec sleep 1000", image=never_well, pull="never", reach="network"
    )
    assert any("HEALTHCHECK is not run" in note for note in runtime.notes)
    await runtime.start("one")
    await said(runtime, "up")
    [container] = engine.ask("GET", "/containers/json")
    assert "Health" not in engine.inspect(container["Id"])["State"]
    look = "import socket; socket.gethostbyname('one')"  # the name resolves at once, healthy or not
    engine.run("client", "python3", "-c", look, HostConfig={"NetworkMode": "steelyard-app"})
    code = await asyncio.to_thread(engine.ask, "POST", "/containers/client/wait")
    engine.remove("client")
    assert code["StatusCode"] == 0


def test_an_image_and_a_port_are_needed(new: New, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs an image, and the port"):
        new(tmp_path, port=None)
