"""`steelyard logs --follow`, and logs that are too large, against a real gateway."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from tests.e2e.follower import SPEAKER, Follower
from tests.e2e.gateway import QUICK
from tests.waiting import until


async def test_logs_are_followed_over_the_lives_of_workers_and_agents(gateway):
    """Each line of a new worker comes once, also after the agent was killed and replaced."""
    flags = ("--min", "2", "--max", "2", "--health-path", "/", *QUICK)
    g = gateway(*flags, command=SPEAKER).start()
    told = await g.ready()
    first = {worker.name for worker in told.workers}
    async with Follower(g) as follower:
        await follower.until("Serving HTTP", first)
        assert g.http("/asked-for") == 404
        await until(lambda: asyncio.sleep(0.01, follower.workers("/asked-for HTTP")))
        os.kill(int(told.workers[0].handle), signal.SIGKILL)
        told = await g.until(
            lambda told: told.ready == 2 and {worker.name for worker in told.workers} != first
        )
        new = {worker.name for worker in told.workers} - first
        await follower.until("Serving HTTP", new)
        agent = g.children("agent")[0]
        agent.kill()
        await g.until(lambda told: g.children("agent") not in ([], [agent]))

        async def heard() -> bool:
            await asyncio.to_thread(g.http, "/successor")
            return bool(follower.workers("/successor HTTP"))

        await until(heard)
        assert g.stop() == 0
        assert await follower.process.wait() == 0  # the follower ends in order, with the agent
    assert len(follower.workers("/asked-for HTTP")) == 1
    assert sorted(follower.workers("Serving HTTP")) == sorted(first | new)
    assert follower.workers("GET / HTTP/1.1") == []  # the agent's health checks


async def test_a_log_of_a_hundred_megabytes_without_a_newline_holds_nothing_up(gateway):
    """The agent answers and stops while such logs are printed and followed."""
    script = "head -c 100000000 /dev/zero | tr '\\0' x; exec \"$0\" -m steelyard.demo --port {port}"
    flags = ("--min", "1", "--max", "1", "--runtime-log-size", "1GiB", *QUICK)
    g = gateway(*flags, command=("sh", "-c", script, sys.executable)).start()
    told = await g.ready()
    log = g.home / "app" / "logs" / f"{told.workers[0].name}.log"
    assert log.stat().st_size >= 100_000_000
    async with Follower(g, "--lines", "100"):
        asked = [asyncio.create_task(asyncio.to_thread(g.cli, "logs")) for _ in range(3)]
        answers = 0
        while not all(task.done() for task in asked):
            await asyncio.to_thread(g.client.status)
            answers += 1
        assert answers > 0
        for task in asked:
            assert len(task.result().stdout) < 5_000_000
        g.signal(signal.SIGINT)
        assert await asyncio.to_thread(g.wait) == 0
    assert g.workers() == []
