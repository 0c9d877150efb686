"""`steelyard balancer`: the plain reverse proxy, and the empty fleet."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter

import httpx
import pytest

from tests.e2e.gateway import QUICK, free_port


def run(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


async def answers(url: str) -> httpx.Response:
    """The first answer of a server that is starting."""
    async with httpx.AsyncClient() as client:
        for _ in range(600):
            try:
                return await client.get(url)
            except httpx.TransportError:
                await asyncio.sleep(0.05)
    raise AssertionError(f"{url} never answered")


@pytest.fixture
def processes():
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.send_signal(signal.SIGTERM)
    for process in started:
        process.wait()


async def test_a_fixed_fleet_is_served_by_weight(processes):
    """A worker of twice the weight gets twice the requests, without any agent."""
    first, second, port = free_port(), free_port(), free_port()
    for worker in (first, second):
        processes.append(run("steelyard.demo", "--port", str(worker)))
    for worker in (first, second):
        await answers(f"http://127.0.0.1:{worker}/health")
    processes.append(run(
        "steelyard", "balancer", "--listen", f"127.0.0.1:{port}", "--processes", "2",
        "--worker", f"127.0.0.1:{first}", "--worker", f"127.0.0.1:{second}=2",
        "--policy", "weighted_ring",  # other policies also consider how fast a worker is
    ))  # fmt: skip
    await answers(f"http://127.0.0.1:{port}/health")
    seen: Counter[int] = Counter()
    async with httpx.AsyncClient() as client:
        for _ in range(300):
            answer = await client.get(f"http://127.0.0.1:{port}/whoami")
            seen[answer.json()["port"]] += 1
    assert set(seen) == {first, second}
    assert 1.5 < seen[second] / seen[first] < 2.7


async def test_a_fleet_with_no_living_worker_is_502(processes):
    """If no process listens at the only worker's address, the answer is 502."""
    port = free_port()
    processes.append(run(
        "steelyard", "balancer", "--listen", f"127.0.0.1:{port}", "--worker",
        f"127.0.0.1:{free_port()}",
    ))  # fmt: skip
    answer = await answers(f"http://127.0.0.1:{port}/")
    assert answer.status_code == 502


async def test_an_empty_fleet_is_503_with_retry_after(processes, tmp_path):
    """A balancer that has not heard from its agent has no workers, and answers 503."""
    port = free_port()
    processes.append(run(
        "steelyard", "balancer", "--listen", f"127.0.0.1:{port}", "--state", str(tmp_path),
        "--agent", f"127.0.0.1:{free_port()}",
    ))  # fmt: skip
    answer = await answers(f"http://127.0.0.1:{port}/")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1


async def test_a_balancer_of_another_application_is_shown_by_the_agent_it_refuses(
    processes, gateway
):
    """`status` says what to look at, and a drain does not wait for that balancer."""
    g = gateway("--min", "2", "--max", "2", "--scaling-drain", "86400", *QUICK).start()
    worker, _ = (await g.ready()).workers
    processes.append(run(
        "steelyard", "balancer", "--listen", f"127.0.0.1:{free_port()}", "--processes", "1",
        "--state", str(g.home), "--name", "shop", "--agent", f"127.0.0.1:{g.agent_port}",
    ))  # fmt: skip
    await g.until(lambda told: told.notes != [])
    shown = await asyncio.to_thread(g.cli, "status")
    assert "but serves the application 'shop', not 'app'" in shown.stdout
    assert "check its --agent and --name" in shown.stdout
    await asyncio.to_thread(g.cli, "drain", worker.name)
    await g.until(lambda told: worker.name not in {one.name for one in told.workers})
