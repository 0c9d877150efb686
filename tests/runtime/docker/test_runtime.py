"""Failures of containers are reported clearly, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from steelyard.errors import StartError
from steelyard.runtime.base import Exit
from steelyard.runtime.docker.runtime import DockerRuntime
from steelyard.runtime.engine.waiting import find_group, waited
from tests.contract.runtimes import leave_orphans
from tests.docker.engine import Engine
from tests.runtime.docker.conftest import Make

pytestmark = pytest.mark.needs("docker")
SLEEP = ("sleep", "1000")


async def next_exit(runtime: DockerRuntime) -> Exit:
    return await anext(aiter(runtime.exits()))


async def start_and_end(runtime: DockerRuntime) -> str:
    """Why a short-lived worker ended, whether `start` saw it alive or not."""
    try:
        await runtime.start("one")
        return (await next_exit(runtime)).reason
    except StartError as error:
        return error.message


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (("sh", "-c", "echo sorry; exit 3"), 3, "sorry"),
        (("no-such-program",), 127, "no-such-program failed: No such file"),
    ],
)
async def test_a_worker_that_ends_at_once_is_told(
    make: Make, command: tuple[str, ...], code: int, words: str
) -> None:
    """The end is reported by the start or right after it, and the log can be read in both cases."""
    runtime = await make(*command)
    assert f"exit code {code}" in await start_and_end(runtime)
    assert words in await runtime.logs("one", 5)


async def test_a_name_that_is_taken_is_told(docker: Engine, make: Make) -> None:
    """A container of somebody else is never touched, whatever its name."""
    theirs = docker.run("one", *SLEEP)
    runtime = await make()
    with pytest.raises(StartError, match="there is a container one already"):
        await runtime.start("one")
    await runtime.stop("one", 0)
    assert docker.inspect("one")["Id"] == theirs
    assert docker.inspect("one")["State"]["Running"]
    docker.remove("one")


async def test_labels_of_ours_on_a_container_of_others(
    docker: Engine, make: Make, tmp_path: Path
) -> None:
    """A container with our labels but another name is not listed, measured, stopped or removed."""
    runtime = await make(*SLEEP)
    await runtime.start("one")
    labels = docker.inspect("one")["Config"]["Labels"]
    docker.run("copy", *SLEEP, Labels=labels)
    docker.run("bare", *SLEEP, Labels={k: v for k, v in labels.items() if "worker" not in k})
    docker.run("ended", "true", Labels=labels)
    other = docker.run("other", *SLEEP, Labels={**labels, "steelyard.home": "/elsewhere"})
    docker.ask("POST", "/containers/ended/wait")
    again = await make(*SLEEP)
    assert [worker.name for worker in await again.running()] == ["one"]
    assert list(await again.sample()) == ["one"]
    for name in ("copy", "bare", "other"):
        assert docker.inspect(name)["State"]["Running"]
        docker.remove(name)
    docker.remove("ended")
    assert other


async def test_what_ended_while_no_agent_looked_is_removed(
    docker: Engine, make: Make, tmp_path: Path
) -> None:
    """The next agent keeps the last lines, and does not report an end that it did not see."""
    command = ("sh", "-c", "echo bye; exec sleep 1000")
    [one, _] = await asyncio.to_thread(leave_orphans, "docker", tmp_path, command, ["one", "two"])
    docker.ask("POST", f"/containers/{one}/kill")
    docker.ask("POST", f"/containers/{one}/wait")
    runtime = await make(*command)
    assert [worker.name for worker in await runtime.running()] == ["two"]
    assert docker.things()["containers"] == ["/two"]
    assert await runtime.logs("one", 1) == "bye\n"


async def test_a_worker_out_of_memory_is_told(make: Make) -> None:
    """The reason names the signal, and the lack of memory."""
    runtime = await make("python3", "-c", "b'x' * 2**30", memory=32 * 2**20)
    assert "killed by SIGKILL (out of memory)" in await start_and_end(runtime)


async def test_an_image_says_how_it_wants_to_be_stopped(docker: Engine, make: Make) -> None:
    """nginx, for one, finishes its requests on QUIT, and drops them on TERM."""
    made = docker.run("trial", "true")
    wish = {"StopSignal": "SIGUSR1"}
    docker.ask("POST", f"/commit?container={made}&repo=usr&tag=1", wish)
    docker.remove("trial")
    script = "trap 'echo asked; exit 7' USR1; echo set; while :; do sleep 0.05; done"
    runtime = await make("sh", "-c", script, image="usr:1")
    await runtime.start("one")
    while "set" not in await runtime.logs("one", 1):
        await asyncio.sleep(0.01)
    await runtime.stop("one", 60)
    assert await next_exit(runtime) == Exit("one", "exit code 7")
    docker.ask("DELETE", "/images/usr:1")


async def test_counters_are_streamed(docker: Engine, make: Make) -> None:
    """CPU and memory of a busy worker grow, and the second sample is newer than the first."""
    burn = "b = bytearray(40_000_000)\nwhile True: pass"
    runtime = await make("python3", "-c", burn, cpus=0.5)
    await runtime.start("one")
    first = (await runtime.sample())["one"]
    assert (first.cpu_seconds, first.memory) == (0.0, 0)  # it has just started
    while (sample := (await runtime.sample())["one"]).memory < 40_000_000:
        await asyncio.sleep(0.05)
    assert sample.at > first.at
    assert sample.cpu_seconds > 0
    assert sample.memory < 100_000_000


async def test_waiting_for_a_core_counts(make: Make) -> None:
    """With more busy threads than cores each waits, which the engine does not tell."""
    burn = "while :; do :; done"
    script = " & ".join([f"sh -c '{burn}'"] * (2 * (os.cpu_count() or 1)))
    runtime = await make("sh", "-c", script)
    await runtime.start("one")
    while (sample := (await runtime.sample())["one"]).cpu_wait_seconds < 0.1:
        await asyncio.sleep(0.05)
    assert sample.cpu_seconds > 0


def test_a_process_that_is_not_the_containers_tells_nothing() -> None:
    """An engine on another machine reports pids that belong to other processes here."""
    assert find_group("0123abcd", os.getpid()) is None
    assert waited(None) == 0.0
