"""A real application behind `steelyard up`."""

from __future__ import annotations

import asyncio
import hashlib
import sys

import httpx
import pytest

from tests.e2e.gateway import Gateway
from tests.e2e.load import Load
from tests.waiting import until

FILES = (sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1")
MIB = 2**20


def memory(gateway: Gateway) -> int:
    """Bytes of memory that the balancers hold."""
    return sum(child.memory_info().rss for child in gateway.children("balancer"))


async def test_requests_are_spread_over_all_workers(gateway):
    """With weighted_ring, four workers get about equal shares; the default prefers fast ones."""
    g = gateway("--min", "4", "--max", "4", "--policy", "weighted_ring").start()
    await g.ready()
    load = Load(g.port, "/whoami")
    async with load.running():
        await load.more(400)
    assert load.failed == []
    assert len(load.workers) == 4
    assert min(load.workers.values()) > 50


async def test_a_large_file_passes_with_flat_memory(gateway, tmp_path):
    """100 MB from a stock `http.server` arrive unchanged, while the balancers stay small."""
    big = tmp_path / "www" / "big.bin"
    big.parent.mkdir()
    content = bytes(range(256)) * 4 * 1024 * 100
    big.write_bytes(content)
    g = gateway("--min", "4", "--max", "4", "--application-directory", str(big.parent),
                command=FILES).start()  # fmt: skip
    await g.ready()
    before, most, digest = memory(g), 0, hashlib.sha256()
    async with (
        httpx.AsyncClient() as client,
        client.stream("GET", f"http://127.0.0.1:{g.port}/big.bin") as answer,
    ):
        assert answer.status_code == 200
        async for piece in answer.aiter_raw(MIB):
            digest.update(piece)
            most = max(most, memory(g))
    assert digest.digest() == hashlib.sha256(content).digest()
    assert most - before < 8 * MIB


async def test_a_large_upload_passes_with_flat_memory(gateway):
    """A chunked upload of 50 MB arrives unchanged, while the balancers stay small."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready()
    before, most, sent = memory(g), 0, hashlib.sha256()

    async def body():
        nonlocal most
        for number in range(50):
            piece = bytes([number]) * MIB
            sent.update(piece)
            most = max(most, memory(g))
            yield piece

    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(f"http://127.0.0.1:{g.port}/upload", content=body())
    assert answer.status_code == 200
    assert answer.json()["length"] == 50 * MIB
    assert answer.json()["sha256"] == sent.hexdigest()
    assert most - before < 8 * MIB


@pytest.mark.needs("curl")
async def test_curl_sees_different_workers(gateway):
    """The README's tour works: all workers answer in the end, even one that was slow once."""
    g = gateway("--min", "4", "--max", "4").start()
    await g.ready()
    seen = set()

    async def all_seen():
        process = await asyncio.create_subprocess_exec(
            "curl", "-sS", "--noproxy", "*", f"http://127.0.0.1:{g.port}/whoami",
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate()
        seen.add(out)
        return len(seen) == 4

    await until(all_seen)


async def test_workers_log_where_the_user_looks(gateway):
    """`steelyard logs` prints the lines of a worker, given a part of its name."""
    shout = (sys.executable, "-c", (
        "import os, runpy, sys; print('hello from', os.environ['STEELYARD_WORKER'], flush=True);"
        "sys.argv = ['http.server', os.environ['PORT'], '--bind', '127.0.0.1'];"
        "runpy.run_module('http.server', run_name='__main__')"
    ))  # fmt: skip
    g = gateway("--min", "1", "--max", "1", command=shout).start()
    told = await g.ready()
    name = told.workers[0].name
    assert f"hello from {name}" in g.cli("logs", name[-8:]).stdout


async def test_limits_by_cgroup_are_in_force_or_said_to_be_missing(gateway):
    """A memory limit is shown per worker; a machine that cannot enforce it says so."""
    g = gateway("--min", "1", "--max", "1", "--memory", "256M").start()
    told = await g.ready()
    assert told.workers[0].memory_limit == 256 * MIB or "cgroup" in g.output()
    assert g.stop() == 0  # the stop removes the control group
