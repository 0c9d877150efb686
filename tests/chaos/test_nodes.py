"""Workers on several nodes are measured and stopped anywhere, and replaced if their node is lost.

The tests take about a minute, and have a command of their own: `make swarm-chaos`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.core.status import FleetStatus
from steelyard.runtime.swarm.engines import UNSEEN
from tests.contract.runtimes import swarm_runtime
from tests.docker.swarm import Swarm
from tests.e2e.containers import SwarmGateway
from tests.e2e.gateway import QUICK
from tests.e2e.load import Load

pytestmark = [pytest.mark.chaos, pytest.mark.needs("swarm")]
LOST = 3
# An image imported on each node has another id on each, so it is known by name only.
BY_NAME = "missing"


@pytest.fixture
def sockets(three: Swarm, tmp_path: Path) -> str:
    """The address of the nodes' engines, with the node's name in it."""
    for number, node in enumerate(three.nodes, 1):
        (tmp_path / f"node{number}").symlink_to(node.socket)
    return f"unix://{tmp_path}/{{name}}"


@pytest.mark.parametrize("known", [True, False])
async def test_workers_are_stopped_wherever_they_are(
    three: Swarm, sockets: str, tmp_path: Path, known: bool
) -> None:
    """If a node's engine is known, its workers are measured, too, and signalled by ourselves."""
    script = "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done"
    engines = {"engines": sockets} if known else {}
    runtime = swarm_runtime(tmp_path, ("sh", "-c", script), pull=BY_NAME, **engines)
    await runtime.open()
    workers = await asyncio.gather(*(runtime.start(name) for name in ("one", "two", "three")))
    where = {worker.node: worker.name for worker in workers}
    assert sorted(where) == ["node1", "node2", "node3"]
    for name in where.values():
        while "up" not in await runtime.logs(name, 1):
            await asyncio.sleep(0.05)
    measured = where.values() if known else [where["node1"]]
    assert sorted(await runtime.sample()) == sorted(measured)
    assert (UNSEEN in runtime.notes) is not known
    await asyncio.gather(*(runtime.stop(name, 60) for name in where.values()))
    ends = [await anext(aiter(runtime.exits())) for _ in where]
    reasons = {end.name: end.reason for end in ends}
    assert {name: reasons[name] for name in measured} == dict.fromkeys(measured, "exit code 7")
    assert len(reasons) == 3
    assert all(["up" in await runtime.logs(name, 1) for name in where.values()])
    assert await runtime.running() == []
    await runtime.close()


@pytest.fixture
def gateway(three: Swarm, tmp_path: Path) -> Iterator[SwarmGateway]:
    flags = ("--min", "6", "--max", "6", "--runtime-pull", BY_NAME, "--probe-boot", "120", *QUICK)
    made = SwarmGateway(three, tmp_path / "state", *flags)
    yield made
    made.destroy()


def spread(told: FleetStatus) -> Counter[str]:
    """The number of ready workers on each node."""
    return Counter(worker.node for worker in told.workers if worker.ready)


async def test_a_node_that_is_lost_is_made_up_for(three: Swarm, gateway: SwarmGateway) -> None:
    """The node's cable is pulled: connections are not closed, and requests get no answer."""
    gateway.start()
    told = await gateway.until(lambda told: told.ready == 6, timeout=150)
    assert spread(told) == {"node1": 2, "node2": 2, "node3": 2}
    shown = gateway.cli("status", "--json").stdout
    assert all(f'"node": "node{number}"' in shown for number in (1, 2, 3))
    load = Load(gateway.port, "/sleep?ms=20", connections=8)
    async with load.running():
        await load.more(200)
        assert load.failed == []
        three.switch.cut(LOST)
        told = await gateway.until(
            lambda told: spread(told) == {"node1": 3, "node2": 3}, timeout=150
        )
        failed = len(load.failed)
        await load.more(400)
        assert len(load.failed) == failed
    # Requests under way at the lost node are retried elsewhere as soon as the manager has missed
    # the node, long before the minute that a balancer waits for an answer.
    assert load.failed == []
    replaced = [d.reason for d in told.decisions if d.action == "replace"]
    assert len(replaced) == 2
    assert all("node node3 is down" in reason for reason in replaced)
    three.switch.mend(LOST)
    assert gateway.stop() == 0
