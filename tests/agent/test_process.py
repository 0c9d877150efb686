"""One agent process: before it leads, and its turns at leading."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steelyard.agent import process
from steelyard.agent import term as term_module
from steelyard.agent.process import run_agent
from steelyard.agent.supervision import Supervision
from steelyard.config.settings import Agent, Application, Runtime, Scaling, Settings
from steelyard.config.values import Address
from steelyard.errors import UsageError
from steelyard.runtime.stub import StubRuntime
from steelyard.sockets import listen
from steelyard.store.memory import MemoryStore
from tests.stranger import NOBODY
from tests.waiting import until

LONG = 3600.0  # seconds; such a lease does not expire during a test


@pytest.mark.needs("root")
def test_nothing_is_opened_in_a_state_folder_of_another_user(tmp_path: Path) -> None:
    """An agent does not follow a link that another user put in place of its lock file."""
    precious = tmp_path / "precious"
    precious.write_text("untouched")
    settings = Settings.model_validate({"state": tmp_path / "state"})
    settings.folder.mkdir(parents=True)
    (settings.folder / "agent.lock").symlink_to(precious)
    for path in (settings.state, settings.folder):
        os.chown(path, NOBODY, NOBODY)
    with pytest.raises(UsageError, match="belongs to another user"):
        run_agent(settings)
    assert precious.read_text() == "untouched"
    assert os.listdir(settings.folder) == ["agent.lock"]


class Turns:
    """An agent with a lease, in this process, and the store that it shares with the test."""

    def __init__(self, folder: Path, log: pytest.LogCaptureFixture) -> None:
        self.store = MemoryStore("app")
        with listen(Address("127.0.0.1", 0), 1, "--agent-listen") as sock:
            self.address = Address("127.0.0.1", sock.getsockname()[1])
        self._folder = folder
        self._log = log

    @asynccontextmanager
    async def taken(self, lease: float) -> AsyncIterator[asyncio.Task[None]]:
        settings = Settings(
            state=self._folder,
            application=Application(name="app", command=("serve",)),
            runtime=Runtime(kind="stub"),
            agent=Agent(listen=self.address, on_stop="leave", lease=lease),
            scaling=Scaling(min=1, max=1),
        )
        turns = process._take_turns(settings, "token", False, Supervision())
        task = asyncio.create_task(turns)
        yield task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def so(self, true: Callable[[], bool], task: asyncio.Task[None]) -> None:
        """Wait for something that the agent brings about; an agent that failed raises here."""

        async def look() -> bool:
            if task.done():
                task.result()
            return true()

        await until(look)

    def said(self, words: str) -> int:
        return self._log.text.count(words)

    def listens(self) -> bool:
        with socket.socket() as sock:
            return sock.connect_ex((self.address.host, self.address.port)) == 0


@pytest.fixture
def turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Turns:
    caplog.set_level("INFO", "steelyard")
    made = Turns(tmp_path, caplog)
    monkeypatch.setattr(process, "open_store", lambda *_: made.store)
    monkeypatch.setattr(term_module, "build_runtime", lambda _: StubRuntime())
    return made


async def test_a_standby_that_is_stopped_never_listened(turns: Turns) -> None:
    """A standby ends without an error, and the lease stays with the agent that leads."""
    await turns.store.claim("other", LONG)
    async with turns.taken(lease=1) as task:
        await turns.so(lambda: turns.said("standby: other leads") == 1, task)
        assert not turns.listens()
        os.kill(os.getpid(), signal.SIGTERM)
        await task
    assert turns.said("leads now, as ") == 0
    assert await turns.store.claim("next", LONG) == "other"


async def test_a_standby_leads_when_the_lease_is_free_and_gives_it_back(turns: Turns) -> None:
    """A leader that is stopped releases its lease, so that the next agent need not wait."""
    await turns.store.claim("other", LONG)
    async with turns.taken(lease=8) as task:
        await turns.so(lambda: turns.said("standby: other leads") == 1, task)
        await turns.store.release("other")
        await turns.so(turns.listens, task)
        assert await turns.store.claim("other", LONG) != "other"
        os.kill(os.getpid(), signal.SIGTERM)
        await task
    assert await turns.store.claim("other", LONG) == "other"


async def test_a_leader_that_lost_its_lease_stands_by(turns: Turns) -> None:
    """An agent that lost its lease closes its port, and leads again after the other agent."""
    async with turns.taken(lease=4) as task:
        await turns.so(turns.listens, task)
        await turns.store.release(await turns.store.claim("other", LONG))
        assert await turns.store.claim("other", LONG) == "other"
        await turns.so(lambda: turns.said("this agent no longer leads: other leads") == 1, task)
        await turns.so(lambda: turns.said("standby: other leads") == 1, task)
        assert not turns.listens()
        await turns.store.release("other")
        await turns.so(turns.listens, task)


async def test_an_agent_whose_port_is_in_use_lets_another_one_lead(turns: Turns) -> None:
    """An agent whose port is in use releases the lease before it pauses."""
    with listen(turns.address, 1, "--agent-listen"):
        async with turns.taken(lease=LONG) as task:
            await turns.so(lambda: turns.said("cannot lead: ") == 1, task)
            assert await turns.store.claim("other", LONG) == "other"
            assert not task.done()


async def test_an_agent_leads_when_its_port_is_free_again(turns: Turns) -> None:
    """A port in use ends the agent's turn, but not its process."""
    async with turns.taken(lease=1) as task:
        with listen(turns.address, 1, "--agent-listen"):
            await turns.so(lambda: turns.said("cannot lead: ") >= 1, task)
        await turns.so(turns.listens, task)
