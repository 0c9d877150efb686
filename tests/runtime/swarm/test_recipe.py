"""A service's container, seen from within, from outside and by the swarm."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from steelyard.core.usage import Allowance
from tests.docker.engine import MOUNTS
from tests.docker.swarm import Swarm
from tests.runtime.docker.test_recipe import SERVE, SHOW, answer
from tests.runtime.swarm.conftest import Make
from tests.waiting import until

pytestmark = pytest.mark.needs("swarm")


async def test_a_worker_may_do_little_and_gets_what_it_needs(
    swarm: Swarm, make: Make, tmp_path: Path
) -> None:
    """A worker has few rights, but its environment, volumes and limits; gaps are noted."""
    (tmp_path / "page").write_text("mounted\n")
    runtime = await make(
        "sh", "-c", SHOW, cpus=0.5, memory=64 * 2**20, volumes=(*MOUNTS, f"{tmp_path}:/site:ro")
    )
    worker = await runtime.start("one")
    assert worker.allowance == Allowance(0.5, 64 * 2**20)

    async def look() -> list[str]:
        log = await runtime.logs("one", 100)
        return log.split() if "mounted" in log else []

    words = await until(look)
    assert {"PORT=8000", "HOST=0.0.0.0", "STEELYARD_WORKER=one", "HOSTNAME=one"} <= set(words)
    assert words[1] == words[3] == "0000000000000000"  # neither a capability nor a way to get one
    assert (words[5] == "1") is not any("no-new-privileges" in note for note in runtime.notes)
    [spec] = [one["Spec"]["TaskTemplate"] for one in swarm.manager.services()]
    assert spec["RestartPolicy"]["Condition"] == "none"
    assert spec["Resources"]["Limits"] == {"NanoCPUs": 500_000_000, "MemoryBytes": 64 * 2**20}
    assert worker.node == swarm.manager.ask("GET", "/info")["Name"]


async def test_a_published_port_is_the_nodes(swarm: Swarm, make: Make) -> None:
    """Balancers on any machine can reach the port; a note says that others can, too."""
    runtime = await make(*SERVE)
    worker = await runtime.start("one")
    assert worker.host == swarm.addresses[0]
    status = await until(lambda: asyncio.to_thread(answer, f"http://{worker.host}:{worker.port}/"))
    assert status == 200
    assert any("open on every address of their nodes" in note for note in runtime.notes)


async def test_on_the_overlay_a_worker_is_reached_by_its_name(swarm: Swarm, make: Make) -> None:
    """Any container on the overlay can reach the worker, and no port is published."""
    runtime = await make(*SERVE, reach="network", network="shop-net")
    worker = await runtime.start("steelyard-app-0123abcd")
    assert (worker.host, worker.port) == ("steelyard-app-0123abcd", 8000)
    assert not any("open on every address" in note for note in runtime.notes)
    [service] = swarm.manager.services()
    assert service["Spec"]["EndpointSpec"] == {"Mode": "dnsrr"}
    ask = f"""
import time, urllib.request
for _ in range(600):
    try:
        print(urllib.request.urlopen("http://{worker.name}:8000/", timeout=5).status)
        break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit("never reached")
"""
    swarm.manager.run("client", "python3", "-c", ask, HostConfig={"NetworkMode": "shop-net"})
    code = await asyncio.to_thread(swarm.manager.ask, "POST", "/containers/client/wait")
    swarm.manager.remove("client")
    assert code["StatusCode"] == 0
