"""Logs over real HTTP: merged, followed, and closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from steelyard.agent.audience import WAITING, Reader
from steelyard.agent.build import build_runtime
from steelyard.core import events as ev
from steelyard.runtime.base import gap
from steelyard.runtime.process import ProcessRuntime
from steelyard.runtime.stub import StubRuntime
from tests.agent.conftest import Served
from tests.waiting import until


async def start(served: Served, *names: str) -> StubRuntime:
    """Start these workers in the runtime, and tell the fleet of them."""
    runtime = served.agent.runtime
    assert isinstance(runtime, StubRuntime)
    for name in names:
        await runtime.start(name)
    served.agent.tell(ev.Reconciled(0.0, await served.agent._found()))
    return runtime


def stream(client: httpx.AsyncClient, **query: object):
    return client.stream("GET", "/v1/logs", params={"follow": True, **query}, timeout=30)


async def told(answer: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    """The worker and text of each line, without heartbeats."""
    async for line in answer.aiter_lines():
        if line:
            found = json.loads(line)
            yield found["worker"], found["text"]


async def take(lines: AsyncIterator[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    return [await anext(lines) for _ in range(count)]


async def test_lines_of_workers_that_come_and_go_are_one_stream(served: Served):
    """The stream has the first lines of a new worker and the last lines of an ended one."""
    runtime = await start(served, "one", "two")
    async with served.http() as client, stream(client) as answer:
        lines = told(answer)
        first = [("one", "one listens on port 21000"), ("two", "two listens on port 21001")]
        assert await take(lines, 2) == first
        await start(served, "three")
        assert await take(lines, 1) == [("three", "three listens on port 21002")]
        runtime.write_log("one", "last words")
        runtime.die("one")
        served.agent.tell(ev.Exited("one", "exit code 1"))
        assert await take(lines, 1) == [("one", "last words")]
        runtime.write_log("two", "more")
        assert await take(lines, 1) == [("two", "more")]


async def test_lines_of_workers_that_an_agent_finds_are_not_told_again(served: Served):
    """With `lines=0` a reader gets no old lines of workers that the agent finds later."""
    async with served.http() as client, stream(client, lines=0) as answer:
        first = asyncio.create_task(take(told(answer), 1))
        runtime = await start(served, "one", "two")

        async def heard() -> bool:
            runtime.write_log("one", "new")
            return first.done()

        await until(heard)
        assert await first == [("one", "new")]


async def test_one_worker_alone_is_followed_to_its_end(served: Served):
    """The stream of one worker ends with it, and has no lines of other workers."""
    runtime = await start(served, "one", "two")
    async with served.http() as client, stream(client, worker="one", lines=0) as answer:
        lines = told(answer)
        runtime.write_log("two", "not for us")
        await start(served, "three")
        runtime.write_log("one", "for us")
        assert await take(lines, 1) == [("one", "for us")]
        runtime.die("one")
        assert [line async for line in lines] == []


async def test_a_client_that_goes_away_is_let_go(served: Served):
    """The reader of a client that disconnects is closed with its tasks, even if no line comes."""
    await start(served, "one", "two")
    before = asyncio.all_tasks()
    async with served.http() as client, stream(client) as answer:
        await take(told(answer), 2)
        assert len(served.agent.audience) == 1

    async def gone() -> bool:
        left = [one for one in asyncio.all_tasks() - before if "Reader" in repr(one)]
        return len(served.agent.audience) == 0 and not left

    await until(gone)


async def test_the_stream_ends_when_the_agent_does(served: Served):
    """The stream ends in order, so that a client can tell it from a broken connection."""
    await start(served, "one", "two")
    async with served.http() as client, stream(client) as answer:
        lines = told(answer)
        await take(lines, 2)
        served.agent.audience.end()
        assert [line async for line in lines] == []


async def test_the_last_lines_of_all_workers_are_told_without_following(served: Served):
    """The last lines of each worker are counted after the lines of probes are left out."""
    served.agent.settings.probe.__dict__["path"] = "/health"
    runtime = await start(served, "one", "two")
    for name in ("one", "two"):
        for text in ("a", "b", '"GET /health HTTP/1.1" 200', '"GET /health HTTP/1.1" 200'):
            runtime.write_log(name, text)
    async with served.http() as client:
        answer = await client.get("/v1/logs", params={"lines": 2})
        probes = await client.get("/v1/logs", params={"lines": 1, "probes": True})
    shown = [(one["worker"], one["text"]) for one in map(json.loads, answer.text.splitlines())]
    assert shown == [("one", "a"), ("one", "b"), ("two", "a"), ("two", "b")]
    assert probes.text.count("GET /health") == 2


@pytest.mark.parametrize("follow", [True, False])
async def test_an_unknown_worker_is_404(served: Served, follow: bool):
    """An unknown worker is answered 404 before the stream begins."""
    async with served.http() as client:
        answer = await client.get("/v1/logs", params={"worker": "nobody", "follow": follow})
    assert answer.status_code == 404
    assert "nobody" in answer.json()["detail"]


async def test_a_reader_who_is_slow_costs_no_memory_and_is_told_of_the_gap(served: Served):
    """For a slow reader the log is not read on, and lines that are rotated away become a gap."""
    runtime = build_runtime(served.agent.settings)
    assert isinstance(runtime, ProcessRuntime)
    await runtime.open()
    logs = runtime._logs
    with logs.append("one") as file:
        reader = Reader(runtime, lambda line: True, alone=True)
        file.write(b"x\n" * 2000)
        file.flush()
        reader.begin(["one"], 2000)
        await until(lambda: asyncio.sleep(0, reader._queue.full()))
        for number in range(3):
            file.write(b"%d\n" % number)
            file.flush()
            logs.rotate(1)
    seen = [line async for line in reader.lines() if line is not None]
    await reader.close()
    await runtime.close()
    assert reader._queue.maxsize == WAITING
    assert [line.text for line in seen if line.gap] == [gap(0).text]
    assert seen[-1].text == "2"
