"""Tests of the link to the agent, with a WebSocket server in place of the agent."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from steelyard.balancer.control import agent_link
from steelyard.balancer.control.agent_link import AgentSource
from steelyard.balancer.control.control import Control
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue
from steelyard.core.report import Report, parse_report
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, always, stage, until
from tests.ports import free_port
from tests.stranger import stranger

TOKEN = "s3cret"


class FakeAgent:
    """A server that publishes queues and collects reports."""

    def __init__(self, path: str = r"/v1/queue\?balancer=b%2F1") -> None:
        self.path = path  # a pattern for the path of the balancer's request
        self.reports: asyncio.Queue[Report] = asyncio.Queue()
        self.links: asyncio.Queue[ServerConnection] = asyncio.Queue()
        self.refused = asyncio.Event()
        self.server: Server | None = None
        self.port = 0

    async def open(self) -> None:
        self.server = await serve(self._link, "127.0.0.1", self.port, process_request=self._check)
        self.port = next(iter(self.server.sockets)).getsockname()[1]

    async def close(self) -> None:
        assert self.server is not None
        self.server.close()
        await self.server.wait_closed()

    def _check(self, link: ServerConnection, request: Request) -> Response | None:
        if request.headers.get("Authorization") == f"Bearer {TOKEN}":
            return None
        self.refused.set()
        return Response(401, "Unauthorized", Headers())

    async def _link(self, link: ServerConnection) -> None:
        assert link.request is not None
        assert re.fullmatch(self.path, link.request.path)
        self.links.put_nowait(link)
        async for message in link:
            self.reports.put_nowait(parse_report(message))

    async def linked(self) -> ServerConnection:
        return await asyncio.wait_for(self.links.get(), PATIENCE)

    async def report(self, *, version: int) -> Report:
        """The next report about this version of the queue."""
        while True:
            report = await asyncio.wait_for(self.reports.get(), PATIENCE)
            if report.version == version:
                return report


def queue(version: int, *entries: Entry, epoch: str = "e1") -> str:
    return Queue(application="a", epoch=epoch, version=version, workers=entries).model_dump_json()


@pytest.fixture
async def agent() -> AsyncIterator[FakeAgent]:
    made = FakeAgent()
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return path


def write(path: Path, text: str) -> None:
    path.write_text(text)


async def attempts(port: int, count: int) -> None:
    """Listen on the agent's port, and close the connections of `count` attempts to link."""
    tries = asyncio.Semaphore(0)

    def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        tries.release()

    async with await asyncio.start_server(hang_up, "127.0.0.1", port):
        for _ in range(count):
            await asyncio.wait_for(tries.acquire(), PATIENCE)


@contextlib.asynccontextmanager
async def control(
    s: Stage,
    agent: FakeAgent,
    token: Path,
    *others: FakeAgent,
    rng: random.Random | None = None,
) -> AsyncIterator[Control]:
    urls = tuple(f"ws://127.0.0.1:{one.port}" for one in (agent, *others))
    source = AgentSource(urls, token)
    made = Control(s.plane.front, s.plane.offer, "b/1", source, rng or random.Random(0))
    starting = asyncio.create_task(asyncio.to_thread(made.start))
    try:
        yield made
    finally:
        await starting
        await asyncio.to_thread(made.finish, PATIENCE)


async def get(s: Stage) -> int:
    """The status of a request from a client in another thread."""
    return (await asyncio.to_thread(s.get)).status


async def test_queues_come_in_and_reports_go_out(agent: FakeAgent, token: Path) -> None:
    """A queue is used at once, and the report that follows names its version."""
    with stage(always()) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            assert (await agent.report(version=1)).balancer == "b/1"
            await link.send(queue(7, s.worker.entry()))
            report = await agent.report(version=7)
            assert report.epoch == "e1"
            assert report.workers["w0"].inflight == 0
            assert await get(s) == 200
            while not report.workers["w0"].requests:
                report = await agent.report(version=7)
            assert report.workers["w0"].requests == 1


async def test_a_drained_worker_is_reported_at_once(
    agent: FakeAgent, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new queue, and the last exchange of a worker in SUNDOWN, are reported at once and do not
    wait for the next regular report."""
    monkeypatch.setattr(agent_link, "EVERY", 1000.0)
    go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(conn: Conn) -> None:
        conn.request()
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(PATIENCE)
        conn.send(OK)

    with stage(slow) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            await link.send(queue(2, s.worker.entry()))
            await agent.report(version=2)
            with s.call() as client:
                client.send(GET)
                await asyncio.to_thread(until, lambda: len(s.worker.seen) == 1)
                await link.send(queue(3, s.worker.entry(State.SUNDOWN)))
                report = await agent.report(version=3)
                assert report.workers["w0"].inflight == 1
                go.set()
                report = await agent.report(version=3)
                assert report.workers["w0"].inflight == 0
                assert (await asyncio.to_thread(client.answer)).status == 200


async def test_a_malformed_queue_is_ignored(
    agent: FakeAgent, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A malformed queue is logged with its fault, and the queue before stays in use."""
    with stage(always()) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            await link.send(queue(2, s.worker.entry()))
            await agent.report(version=2)
            await link.send('{"application": "a", "epoch": "e1", "version": -3}')
            await link.send("nonsense")
            endless = queue(3, s.worker.entry()).replace('"weight":1.0', '"weight":Infinity')
            await link.send(endless)
            await link.send(queue(4, s.worker.entry()))
            await agent.report(version=4)
            assert await get(s) == 200
    assert "malformed queue: version" in caplog.text
    assert caplog.text.count("a queue is ignored") == 3


async def test_a_lost_agent(
    agent: FakeAgent, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its agent a balancer uses the last queue, logs each cause once, and links again."""
    with stage(always()) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            await link.send(queue(5, s.worker.entry()))
            await agent.report(version=5)
            await agent.close()
            assert await get(s) == 200
            await attempts(agent.port, 4)
            assert await get(s) == 200
            lost = [record for record in caplog.records if "serving from queue 5" in record.message]
            # One message each: the link is closed, connections are refused, connections are closed.
            assert 1 <= len(lost) <= 3
            await agent.open()
            link = await agent.linked()
            await link.send(queue(1, s.worker.entry(), epoch="e2"))
            while (await agent.report(version=1)).epoch != "e2":
                pass


async def test_of_several_agents_the_one_that_leads_is_followed(
    agent: FakeAgent, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A balancer links to the agent that leads, and skips a standby, which does not listen."""
    standby = FakeAgent()
    await standby.open()
    await standby.close()  # the standby has a port now, and no program listens there
    with stage(always()) as s:
        async with control(s, standby, token, agent):
            link = await agent.linked()
            assert [record for record in caplog.records if record.levelno == logging.ERROR] == []
            await link.send(queue(5, s.worker.entry()))
            await agent.report(version=5)
            await agent.close()
            assert await get(s) == 200
            await standby.open()
            link = await standby.linked()
            await link.send(queue(1, s.worker.entry(), epoch="e2"))
            while (await standby.report(version=1)).epoch != "e2":
                pass
            await standby.close()
            await agent.open()
            await agent.linked()


async def test_counts_survive_a_lost_agent(agent: FakeAgent, token: Path) -> None:
    """Requests that were served while the agent was away are in the reports that follow."""
    with stage(always()) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            await link.send(queue(2, s.worker.entry()))
            await agent.report(version=2)
            await agent.close()
            while not agent.reports.empty():
                agent.reports.get_nowait()
            for _ in range(3):
                assert await get(s) == 200
            await agent.open()
            report = await agent.report(version=2)
            total = report.workers["w0"].requests
            while total < 3:
                total += (await agent.report(version=2)).workers["w0"].requests
            assert total == 3


async def test_a_refused_token(
    agent: FakeAgent, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong token is a clear error, and the token file is read again for each attempt."""
    write(token, "wrong")
    with stage() as s:
        async with control(s, agent, token):
            await asyncio.wait_for(agent.refused.wait(), PATIENCE)
            write(token, TOKEN)
            await agent.linked()
    errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert f"refuses the token in {token} (HTTP 401)" in errors[0]
    assert "no queue to serve from yet" in errors[0]


class Rounds(random.Random):
    """A random generator that counts the pauses between rounds of attempts, and shortens them."""

    pauses = 0

    def uniform(self, a: float, b: float) -> float:
        self.pauses += (a, b) == (0.5, 1.0)
        return 0.001


@pytest.fixture
def absent() -> FakeAgent:
    """An agent that does not listen."""
    made = FakeAgent()
    made.port = free_port()
    return made


async def test_an_agent_that_starts_later_is_no_trouble(
    absent: FakeAgent,
    token: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A balancer that starts before its agent logs nothing during the grace period."""
    monkeypatch.setattr(agent_link, "GRACE", 1000.0)
    rounds = Rounds(0)
    with stage() as s:
        async with control(s, absent, token, rng=rounds):
            await asyncio.to_thread(until, lambda: rounds.pauses > 10)
    assert caplog.text == ""


async def test_an_agent_that_never_comes_is_told_in_plain_words(
    absent: FakeAgent,
    token: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After the grace period the log says what is wrong and what to check, without an errno."""
    monkeypatch.setattr(agent_link, "GRACE", 0.0)
    with stage() as s:
        async with control(s, absent, token):
            await asyncio.to_thread(until, lambda: "no queue to serve from yet" in caplog.text)
    assert "nobody listens there; is the agent running?" in caplog.text
    assert "Errno" not in caplog.text


async def test_a_missing_token_file(
    agent: FakeAgent, token: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing token file is named in the log, and is read when it is there."""
    monkeypatch.setattr(agent_link, "GRACE", 0.0)
    missing = token.with_name("missing")
    with stage() as s:
        async with control(s, agent, missing):
            await asyncio.to_thread(until, lambda: f"no token at {missing} yet" in caplog.text)
            write(missing, TOKEN)
            await agent.linked()


async def test_farewell(agent: FakeAgent, token: Path) -> None:
    """The last report of a balancer says that it is the last."""
    with stage(always()) as s:
        async with control(s, agent, token) as made:
            link = await agent.linked()
            await link.send(queue(2, s.worker.entry()))
            await agent.report(version=2)
            await asyncio.to_thread(made.finish, PATIENCE)
            while not (await agent.report(version=2)).farewell:
                pass


async def test_host_names_are_resolved(agent: FakeAgent, token: Path) -> None:
    """A worker with a host name serves as soon as the name is resolved."""
    with stage(always()) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            named = s.worker.entry().model_copy(update={"host": "localhost"})
            await link.send(queue(2, named))
            await asyncio.to_thread(until, lambda: s.get().status == 200)


async def test_the_queue_of_another_application_is_refused(
    agent: FakeAgent, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The queue of another application is refused and logged, and the queue before stays in use."""
    with stage(always()) as s:
        async with control(s, agent, token):
            link = await agent.linked()
            await link.send(queue(2, s.worker.entry()))
            await agent.report(version=2)
            await link.send(queue(9).replace('"application":"a"', '"application":"other"'))
            link = await agent.linked()
            await link.send(queue(3, s.worker.entry()))
            await agent.report(version=3)
            assert await get(s) == 200
    assert "it leads the application 'other', not 'a'" in caplog.text


@pytest.mark.needs("root")
async def test_another_user_in_the_agents_place_gets_no_token(
    token: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A balancer sends nothing to another user who listens on the port of a killed agent."""
    with stage(always()) as s, stranger(tmp_path / "log") as other:
        place = FakeAgent()
        place.port = other.port
        async with control(s, place, token):
            await asyncio.to_thread(until, lambda: "another user" in caplog.text)
        assert set(other.lines) <= {"connected", "got b''"}
