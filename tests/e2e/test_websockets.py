"""WebSockets through `steelyard up`: their end is announced by a Close frame."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedOK

from tests.e2e.gateway import QUICK, Gateway

PATIENCE = 120.0
SERVER = """
import asyncio, sys
from websockets.asyncio.server import serve

async def echo(link):
    async for message in link:
        await link.send(message)

async def main():
    async with serve(echo, "127.0.0.1", int(sys.argv[1]), ping_interval=None) as server:
        await server.serve_forever()

asyncio.run(main())
"""
COMMAND = (sys.executable, "-c", SERVER, "{port}")


async def _retire(g: Gateway) -> None:
    (worker,) = (await g.ready()).workers
    await asyncio.to_thread(g.cli, "scale", "--min", "2", "--max", "2")
    await g.ready(2)
    await asyncio.to_thread(g.cli, "drain", worker.name)


async def _reload(g: Gateway) -> None:
    g.signal(signal.SIGHUP)


async def _stop(g: Gateway) -> None:
    g.signal(signal.SIGTERM)


@pytest.mark.parametrize("end", [_retire, _reload, _stop])
async def test_a_conversation_that_outlasts_its_time(gateway, end) -> None:
    """At the end of a drain, of a reload and of a stop, the client receives close code 1001."""
    times = ("--scaling-drain", "1", "--scaling-tunnel-drain", "8", "--gateway-drain", "8")
    flags = ("--min", "1", "--max", "2", "--gateway-processes", "1", *times, *QUICK)
    g = gateway(*flags, command=COMMAND).start()
    await g.ready()
    async with connect(f"ws://127.0.0.1:{g.port}/", proxy=None, ping_interval=None) as link:
        await link.send("before")
        assert await asyncio.wait_for(link.recv(), PATIENCE) == "before"
        await end(g)
        with pytest.raises(ConnectionClosedOK):
            await asyncio.wait_for(link.recv(), PATIENCE)
        assert link.close_code == 1001
