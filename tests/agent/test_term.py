"""A term and its end."""

from __future__ import annotations

import asyncio
import contextlib

from steelyard.agent.stop import Stop
from steelyard.agent.term import Term, lead
from steelyard.config.settings import Agent, Application, Runtime, Settings
from steelyard.config.values import Address
from steelyard.core.record import WorkerRecord
from steelyard.sockets import listen
from steelyard.store.memory import MemoryStore


class Deaf(MemoryStore):
    """A store that takes a cancellation for a timeout of its own."""

    def __init__(self) -> None:
        super().__init__("app")
        self.asked = asyncio.Event()

    async def workers(self) -> list[WorkerRecord]:
        self.asked.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return []


class Loser:
    """A claimant that loses its lease while the store is being read."""

    holder = "me"

    def __init__(self, store: Deaf) -> None:
        self._store = store

    def leads(self) -> bool:
        return not self._store.asked.is_set()

    async def keep(self) -> str:
        await self._store.asked.wait()
        return "held up"


async def test_a_term_ends_even_if_a_cancellation_is_not_heard(tmp_path):
    """Else the agent would neither lead nor stand by, and keep the port from who leads."""
    settings = Settings(
        state=tmp_path,
        application=Application(command=("serve",)),
        runtime=Runtime(kind="stub"),
        agent=Agent(on_stop="leave", lease=1),
    )
    store = Deaf()
    with listen(Address("127.0.0.1", 0), 16, "--agent-listen") as sock:
        term = Term(settings, "token", sock, store, Loser(store))
        await asyncio.wait_for(lead(term, Stop(settings, asked=False)), 60)
    assert store.asked.is_set()
