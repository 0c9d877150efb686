"""Real clients over TLS through a real balancer process: bytes, names, versions, memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

from tests.balancer.authority import issue, root_file, trusting
from tests.balancer.downstream.test_handshake import hello
from tests.balancer.exchange.test_websocket import FLOOD, LARGE, answer
from tests.balancer.peers import clients, servers
from tests.balancer.stage import PATIENCE
from tests.balancer.test_process import Balancer, balancer

pytestmark = pytest.mark.xdist_group("TLS peers")  # the tests share a server

HUGE = 24 << 20
SPARE = 6 << 20  # memory that a balancer may need for a body of any size

needs_curl = pytest.param(clients.use_curl, marks=pytest.mark.needs("curl"), id="curl")


class Served(NamedTuple):
    """A balancer, and the file of the root certificate to trust."""

    balancer: Balancer
    trust: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.balancer.port}"


def peak(made: Balancer) -> int:
    """The peak resident memory of the balancer's process, in bytes."""
    status = Path(f"/proc/{made.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def files(folder: Path) -> dict[str, object]:
    """Settings for two certificates."""
    pairs = [issue(folder, "127.0.0.1", "a.org"), issue(folder, "*.b.org")]
    certificates, keys = zip(*pairs, strict=True)
    return {"tls_cert": [*map(str, certificates)], "tls_key": [*map(str, keys)]}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A balancer in front of uvicorn."""
    folder = tmp_path_factory.mktemp("tls")
    with (
        servers.httptools(folder) as port,
        balancer("fixed", f"127.0.0.1:{port}", **files(folder)) as made,
    ):
        yield Served(made, root_file(folder))


@pytest.mark.parametrize("chunked", [False, True], ids=["counted", "chunked"])
@pytest.mark.parametrize(
    "use", [clients.use_httpx, clients.use_requests, clients.use_aiohttp, needs_curl]
)
def test_what_is_stored_comes_back(served: Served, use, chunked: bool) -> None:
    """Each client's large body comes back unchanged, and costs the balancer little memory."""
    data = random.Random(chunked).randbytes(HUGE)
    use(f"{served.url}/warm", b"x" * 100_000, chunked, served.trust)
    before = peak(served.balancer)
    got = use(f"{served.url}/{use.__name__}-{chunked}", data, chunked, served.trust)
    assert sha256(got).digest() == sha256(data).digest()
    assert peak(served.balancer) - before < SPARE


@pytest.mark.needs("curl")
@pytest.mark.parametrize("name", ["a.org", "x.b.org", "y.b.org"])
@pytest.mark.parametrize(
    "options", [["--http1.0"], ["--http1.1"], ["--http2"], ["--tls-max", "1.2"]]
)
def test_curl(served: Served, name: str, options: list[str]) -> None:
    """curl verifies the certificate of each name, and gets HTTP/1.1 whatever version it offers."""
    clients.use_curl(f"{served.url}/hello", b"hello", False, served.trust)
    port = served.balancer.port
    where = ["--resolve", f"{name}:{port}:127.0.0.1", "--cacert", str(served.trust)]
    form = ["-w", "%{http_version} %{ssl_verify_result}"]
    told = clients.curl(f"https://{name}:{port}/hello", *where, *options, *form)
    assert told == b"hello1.1 0"


@pytest.mark.needs("curl")
def test_curl_with_an_unknown_name(served: Served) -> None:
    """For an unknown name curl gets the first certificate, and rejects it."""
    port = served.balancer.port
    where = ["--resolve", f"c.org:{port}:127.0.0.1", "--cacert", str(served.trust)]
    with pytest.raises(subprocess.CalledProcessError) as caught:
        clients.curl(f"https://c.org:{port}/hello", *where)
    assert b"no alternative certificate subject name" in caught.value.stderr


@contextlib.asynccontextmanager
async def chat(folder: Path) -> AsyncIterator[Balancer]:
    """A WebSocket server behind a balancer that speaks TLS."""
    async with serve(answer, "127.0.0.1", 0, max_size=2 * LARGE) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with balancer("fixed", f"127.0.0.1:{port}", **files(folder)) as b:
            yield b


def link_to(b: Balancer) -> connect:
    url = f"wss://127.0.0.1:{b.port}/chat"
    return connect(url, ssl=trusting(), max_size=2 * LARGE, proxy=None)


async def test_websocket(tmp_path: Path) -> None:
    """Messages of all sizes come back, pings are answered, and the close code arrives."""
    async with chat(tmp_path) as b, link_to(b) as link:
        for message in ("", "Grüße", b"", "x" * LARGE, os.urandom(LARGE)):
            await link.send(message)
            assert await link.recv() == message
        await asyncio.wait_for(await link.ping(b"are you there"), PATIENCE)
        await link.close(1001, "bye")
        assert link.close_code == 1001


async def test_websocket_slow_reader(tmp_path: Path) -> None:
    """While a server sends a client 64 MiB, the balancer's memory grows by less than SPARE."""
    async with chat(tmp_path) as b, link_to(b) as link:
        await link.send("first")
        assert await link.recv() == "first"
        before = b.memory()
        await link.send("flood")
        for number in range(FLOOD):
            assert await link.recv() == bytes([number]) * LARGE
            assert b.memory() - before < SPARE


def test_a_name_that_is_none(tmp_path: Path) -> None:
    """A client whose SNI is not a host name gets an alert, and the log shows no traceback."""
    with balancer("fixed", "127.0.0.1:1", **files(tmp_path)) as b:
        for name in (b"\xff.org", b"a\0org"):
            with b.call() as client:
                client.send(hello().replace(b"a.org", name))
                assert client.rest()[:1] == b"\x15"  # an alert
        b.process.send_signal(signal.SIGTERM)
        told = b.log()
        assert "stopped" in told
        assert "Traceback" not in told
