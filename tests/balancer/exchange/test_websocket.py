"""Real WebSocket clients and servers through a real balancer process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK, InvalidStatus

from tests.balancer.stage import PATIENCE
from tests.balancer.test_process import Balancer, balancer

LARGE = 2**20
FLOOD = 64  # messages of LARGE


async def answer(link: ServerConnection) -> None:
    """Echo messages, except for "leave" and "flood", which are commands."""
    async for message in link:
        if message == "leave":
            await link.close(4321, "as you wish")
        elif message == "flood":
            for number in range(FLOOD):
                await link.send(bytes([number]) * LARGE)
        else:
            await link.send(message)


@contextlib.asynccontextmanager
async def scene(**gateway: object) -> AsyncIterator[Balancer]:
    """A WebSocket server in this process, behind a balancer in another process."""
    async with serve(answer, "127.0.0.1", 0, max_size=2 * LARGE) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with balancer("fixed", f"127.0.0.1:{port}", **gateway) as b:
            yield b


def link_to(b: Balancer) -> connect:
    return connect(f"ws://127.0.0.1:{b.port}/chat", max_size=2 * LARGE, proxy=None)


async def test_messages() -> None:
    """Text, binary and large messages come back unchanged, and pings are answered."""
    async with scene() as b, link_to(b) as link:
        for message in ("", "Grüße", b"", bytes(range(256)), "x" * LARGE, os.urandom(LARGE)):
            await link.send(message)
            assert await link.recv() == message
        await asyncio.wait_for(await link.ping(b"are you there"), PATIENCE)


async def test_fragments() -> None:
    """A message that is sent in many frames arrives whole."""
    async with scene() as b, link_to(b) as link:
        await link.send(str(number) for number in range(1000))
        assert await link.recv() == "".join(map(str, range(1000)))


async def test_compression_is_negotiated_end_to_end() -> None:
    """Client and server negotiate extensions with each other, through the balancer."""
    async with scene() as b, link_to(b) as link:
        assert [extension.name for extension in link.protocol.extensions] == ["permessage-deflate"]


async def test_close_codes() -> None:
    """The close code and reason of either side reach the other side."""
    async with scene() as b:
        async with link_to(b) as link:
            await link.send("leave")
            with pytest.raises(ConnectionClosedError):
                await link.recv()
            assert (link.close_code, link.close_reason) == (4321, "as you wish")
        async with link_to(b) as link:
            await link.close(1001, "bye")
            assert link.close_code == 1001


async def test_fifty_at_once() -> None:
    """Fifty concurrent tunnels do not mix up their messages."""

    async def talk(link: ClientConnection, name: str) -> None:
        for number in range(20):
            await link.send(f"{name}/{number}" * 100)
            assert await link.recv() == f"{name}/{number}" * 100

    async with scene() as b, contextlib.AsyncExitStack() as links:
        opened = [await links.enter_async_context(link_to(b)) for _ in range(50)]
        await asyncio.gather(*(talk(link, str(n)) for n, link in enumerate(opened)))


async def test_slow_reader() -> None:
    """While a server sends a client 64 MiB, the balancer's memory grows by less than 4 MiB."""
    async with scene() as b, link_to(b) as link:
        await link.send("first")
        assert await link.recv() == "first"
        before = b.memory()
        await link.send("flood")
        for number in range(FLOOD):
            assert await link.recv() == bytes([number]) * LARGE
            assert b.memory() - before < 4 * LARGE


async def test_refused_handshake() -> None:
    """A server's refusal of the handshake reaches the client as an ordinary answer."""
    async with (
        serve(answer, "127.0.0.1", 0, origins=["http://other"]) as server,
    ):
        port = next(iter(server.sockets)).getsockname()[1]
        with balancer("fixed", f"127.0.0.1:{port}") as b:
            with pytest.raises(InvalidStatus) as caught:
                await link_to(b)
            assert caught.value.response.status_code == 403


async def test_stop() -> None:
    """A balancer that stops keeps an open WebSocket, and exits when the WebSocket is closed."""
    async with scene() as b, link_to(b) as link:
        await link.send("before")
        assert await link.recv() == "before"
        b.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(b.says, "stopping")
        await link.send("after")
        assert await link.recv() == "after"
        await link.close()
        assert await asyncio.to_thread(b.process.wait, PATIENCE) == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGUSR2])
async def test_the_end_of_a_drain(how: signal.Signals) -> None:
    """A WebSocket that outlasts the drain time of a stop, or of a reload, is closed with 1001."""
    async with scene(drain=4) as b, link_to(b) as link:
        await link.send("before")
        assert await link.recv() == "before"
        b.process.send_signal(how)
        with pytest.raises(ConnectionClosedOK):
            await asyncio.wait_for(link.recv(), PATIENCE)
        assert link.close_code == 1001
        assert await asyncio.to_thread(b.process.wait, PATIENCE) == 0
        assert "cut off" not in b.log()


SERVER = """
import asyncio, sys
from websockets.asyncio.server import serve

async def main():
    async with serve(lambda link: link.wait_closed(), "127.0.0.1", 0) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await server.serve_forever()

asyncio.run(main())
"""


async def test_killed_worker() -> None:
    """When a server is killed, the client sees an abnormal end (1006) at once."""
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    port = int(await server.stdout.readline())
    with balancer("fixed", f"127.0.0.1:{port}") as b:
        async with link_to(b) as link:
            await asyncio.wait_for(await link.ping(), PATIENCE)
            server.kill()
            with pytest.raises(ConnectionClosedError):
                await asyncio.wait_for(link.recv(), PATIENCE)
            assert link.close_code == 1006
    await server.wait()
