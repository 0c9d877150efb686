"""A container, seen from within and by the engine."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path

import pytest

from steelyard.core.usage import Allowance
from steelyard.runtime.docker.runtime import DockerRuntime
from tests.docker.engine import MOUNTS, Engine
from tests.runtime.docker.conftest import Make
from tests.waiting import until

pytestmark = pytest.mark.needs("docker")
SHOW = "grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/1/status; env; cat /site/page; exec sleep 1000"
SERVE = ("python3", "-u", "-m", "http.server", "{port}", "--directory", "/usr/share/doc")


async def said(runtime: DockerRuntime, name: str, last: str) -> str:
    """The log of the worker, as soon as it contains the last word."""

    async def look() -> str:
        log = await runtime.logs(name, 100)
        return log if last in log else ""

    return await until(look)


async def test_a_worker_may_do_little_and_gets_what_it_needs(
    docker: Engine, make: Make, tmp_path: Path
) -> None:
    """A worker has neither capabilities nor new privileges, but environment, volumes and limits."""
    (tmp_path / "page").write_text("mounted\n")
    runtime = await make(
        "sh", "-c", SHOW, cpus=0.5, memory=64 * 2**20, volumes=(*MOUNTS, f"{tmp_path}:/site:ro")
    )
    worker = await runtime.start("one")
    assert worker.allowance == Allowance(0.5, 64 * 2**20)
    words = (await said(runtime, "one", "mounted")).split()
    assert {"PORT=8000", "HOST=0.0.0.0", "STEELYARD_WORKER=one", "HOSTNAME=one"} <= set(words)
    assert words[1] == words[3] == "0000000000000000"  # neither a capability nor a way to get one
    assert words[5] == "1"
    host = docker.inspect("one")["HostConfig"]
    assert host["RestartPolicy"]["Name"] == "no"
    assert (host["NanoCpus"], host["Memory"]) == (500_000_000, 64 * 2**20)
    assert (host["MemorySwap"], host["Privileged"]) == (64 * 2**20, False)


async def test_capabilities_are_given_by_name(docker: Engine, make: Make) -> None:
    """A worker gets the capabilities that were asked for, and no other."""
    show = "grep CapBnd /proc/self/status; echo done; exec sleep 1000"
    runtime = await make("sh", "-c", show, capabilities=("NET_BIND_SERVICE",))
    await runtime.start("one")
    words = (await said(runtime, "one", "done")).split()
    assert int(words[1], 16) == 1 << 10  # CAP_NET_BIND_SERVICE, linux/capability.h


async def test_a_published_port_is_on_loopback_only(docker: Engine, make: Make) -> None:
    """Only programs on this machine can reach the published port."""
    runtime = await make(*SERVE)
    worker = await runtime.start("one")
    ports = docker.inspect("one")["NetworkSettings"]["Ports"]
    assert ports == {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(worker.port)}]}
    status = await until(lambda: asyncio.to_thread(answer, f"http://127.0.0.1:{worker.port}/"))
    assert status == 200


async def test_on_the_network_a_worker_is_reached_by_its_name(docker: Engine, make: Make) -> None:
    """Workers that are reached by name publish no port."""
    runtime = await make(*SERVE, reach="network", network="shop-net")
    worker = await runtime.start("steelyard-app-0123abcd")
    assert (worker.host, worker.port) == ("steelyard-app-0123abcd", 8000)
    assert docker.inspect(worker.name)["NetworkSettings"]["Ports"] == {"8000/tcp": None}
    await said(runtime, worker.name, "Serving HTTP")
    ask = f"import urllib.request as u; print(u.urlopen('http://{worker.name}:8000/').status)"
    docker.run("client", "python3", "-c", ask, HostConfig={"NetworkMode": "shop-net"})
    code = await asyncio.to_thread(docker.ask, "POST", "/containers/client/wait")
    docker.remove("client")
    assert code["StatusCode"] == 0


def answer(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=5) as got:
            return int(got.status)
    except OSError:
        return 0
