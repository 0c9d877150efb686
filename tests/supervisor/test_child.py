"""Children of the supervisor, as real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import psutil
import pytest

from steelyard.config.settings import Agent, Application, Settings
from steelyard.config.values import Address
from steelyard.sockets import listen
from steelyard.supervisor import child as child_module
from steelyard.supervisor.child import Child, describe, read_line
from steelyard.supervisor.plan import agent_role
from tests.balancer.stage import PATIENCE
from tests.ports import free_port

PARENT = """
import asyncio, sys
from steelyard.config.settings import Settings
from steelyard.supervisor.child import Child
from steelyard.supervisor.plan import agent_role

async def main():
    child = Child(agent_role(Settings.model_validate_json(sys.argv[1])), lambda line: None)
    child.start()
    while child.pid is None:
        await asyncio.sleep(0.01)
    print(child.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
def settings(tmp_path) -> Settings:
    """Settings of an agent whose worker, a sleep, never becomes ready."""
    return Settings(
        state=tmp_path,
        application=Application(command=("sleep", "60")),
        agent=Agent(listen=Address("127.0.0.1", free_port())),
    )


async def until(true) -> None:
    while not true():
        await asyncio.sleep(0.02)


async def test_a_child_that_is_killed_is_started_again(settings):
    """A killed child is restarted, and the parent gets its messages."""
    said: list[str] = []
    child = Child(agent_role(settings), said.append)
    child.start()
    await until(lambda: any("start" in line for line in said))
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until(lambda: child.restarts == 1 and child.pid != first)
    assert "agent ended (killed by SIGKILL), restarting it" in said
    child.stop()
    await child.ended()
    assert not psutil.pid_exists(child.pid or 0)


async def test_an_error_that_a_restart_does_not_mend_is_final(settings, tmp_path):
    """A child that cannot use its address, which is not of this machine, is not restarted."""
    said: list[str] = []
    wrong = settings.model_copy(update={"agent": Agent(listen=Address("192.0.2.1", 80))})
    child = Child(agent_role(wrong), said.append)
    child.start()
    await child.gave_up.wait()
    assert child.restarts == 0
    assert "cannot be listened on" in " ".join(said)


async def test_an_agent_whose_port_is_taken_waits_for_it(settings):
    """An agent whose port is in use is restarted until the port is free."""
    said: list[str] = []
    child = Child(agent_role(settings), said.append)
    with listen(settings.agent.listen, 1, "--agent-listen"):
        child.start()
        await until(lambda: child.restarts == 1)
    await until(lambda: any("start steelyard" in line for line in said))
    assert not child.gave_up.is_set()
    assert "in use" in " ".join(said)
    child.stop()
    await child.ended()


async def test_a_child_that_cannot_start_is_tried_ever_more_slowly(settings):
    """Each pause before a restart is twice the one before."""
    pauses: list[float] = []

    class Hasty(Child):
        async def _rest(self, seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                self.stop()

    with listen(settings.agent.listen, 1, "--agent-listen"):
        child = Hasty(agent_role(settings), lambda line: None)
        child.start()
        await until(lambda: len(pauses) == 3)
        assert pauses == [0.2, 0.4, 0.8]
    await child.ended()


def test_a_child_dies_with_its_parent(settings):
    """A child without a folder ends with its parent, even if that was killed."""
    command = [sys.executable, "-c", PARENT, settings.model_dump_json()]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        parent.wait()
    psutil.wait_procs([child], timeout=PATIENCE)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    reap(settings)


def reap(settings: Settings) -> None:
    """Kill the worker, which the agent left for a next agent that never comes."""
    mark = f"STEELYARD_HOME={settings.folder.resolve()}".encode()
    for process in psutil.process_iter():
        try:
            with open(f"/proc/{process.pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    process.kill()
        except (OSError, psutil.Error):
            continue


async def test_a_line_of_any_length_is_read():
    """A line that is too long for the reader is skipped with a notice."""
    reader = asyncio.StreamReader(limit=64)
    reader.feed_data(b"short\n" + b"x" * 1000 + b"\nafter\n")
    reader.feed_eof()
    lines = []
    while line := await read_line(reader):
        lines.append(line)
    assert (lines[0], lines[-1]) == (b"short\n", b"after\n")
    assert b"too long" in lines[1]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (-9, "killed by SIGKILL"),
        (-40, "killed by signal 40"),
    ],
)
def test_an_end_in_words(status, words):
    """The exit status of a process is described in words."""
    assert describe(status) == words


def lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_workers_of_agents_that_are_killed_again_and_again_are_killed(settings, monkeypatch):
    """The supervisor kills the workers if no last agent lives long enough to stop them."""
    said: list[str] = []
    child = Child(agent_role(settings), said.append)
    child.start()
    entries = settings.folder / "workers"
    await until(lambda: len([*entries.glob("*.json")]) == settings.scaling.min)
    workers = psutil.Process(child.pid).children()
    monkeypatch.setattr(child_module, "OBEYS", 0.01)
    monkeypatch.setattr(child_module, "CLEARS_UP", 0.01)
    psutil.Process(child.pid).suspend()
    child.insist()
    await child.ended()
    assert len([line for line in said if line.endswith("stopping its workers")]) == 3
    assert workers
    assert [worker for worker in workers if lives(worker)] == []
    assert "no agent could stop the workers, so they were killed: steelyard-" in said[-1]
