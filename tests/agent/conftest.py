"""An agent with a stub runtime, and its API on a real port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import websockets

from steelyard.agent.build import build_fleet
from steelyard.agent.loop import Agent
from steelyard.agent.server import serve_api
from steelyard.agent.writer import Writer
from steelyard.config.settings import Application, Probe, Runtime, Scaling, Settings
from steelyard.config.values import Address
from steelyard.core import events as ev
from steelyard.runtime.stub import StubRuntime
from steelyard.sockets import listen
from steelyard.store.memory import MemoryStore

TOKEN = "right-token"


@dataclass
class Served:
    """An agent that gets its events from the test, and the port of its API."""

    agent: Agent
    port: int

    def http(self, token: str | None = TOKEN) -> httpx.AsyncClient:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", headers=headers)

    def link(self, balancer: str, token: str = TOKEN) -> websockets.connect:
        return websockets.connect(
            f"ws://127.0.0.1:{self.port}/v1/queue?balancer={balancer}",
            additional_headers={"Authorization": f"Bearer {token}"},
            proxy=None,
        )

    def boot(self) -> list[str]:
        """Boot two workers, and return their names."""
        self.agent.tell(ev.Reconciled(0.0, ()))
        names = [worker.name for worker in self.agent.fleet.roster]
        for number, name in enumerate(names):
            self.agent.tell(ev.Started(name, "127.0.0.1", 1 + number))
            self.agent.tell(ev.Probed(name, ok=True, seconds=0.001))
        return names


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    settings = Settings(
        state=tmp_path,
        application=Application(name="app", command=("serve",)),
        runtime=Runtime(ports=(20000, 20031)),  # few: no test can ask for thousands of workers
        scaling=Scaling(min=2, max=4),
        probe=Probe(failures=10**6, interval=3600),  # the test decides which workers are ready
    )
    agent = Agent(settings, build_fleet(settings, None), StubRuntime(), Writer(MemoryStore("app")))
    with listen(Address("127.0.0.1", 0), 16, "--agent-listen") as sock:
        async with serve_api(agent, TOKEN, sock):
            yield Served(agent, sock.getsockname()[1])
    await agent.prober.close()
