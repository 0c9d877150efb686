"""The HTTP server of the API, on a socket that is already listening."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn

from steelyard.agent.api import build_api
from steelyard.agent.loop import Agent


class _Server(uvicorn.Server):
    """A server that leaves signals to the agent."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serve_api(agent: Agent, token: str, sock: socket.socket) -> AsyncIterator[None]:
    """A context in which the API is served; its end closes all links and accepts no new ones."""
    config = uvicorn.Config(
        build_api(agent, token),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield
    finally:
        agent.audience.end()
        server.should_exit = True
        await serving
