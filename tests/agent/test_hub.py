"""The link between agent and balancer, over a real WebSocket."""

from __future__ import annotations

import asyncio

import pytest
import websockets

from steelyard.core import events as ev
from steelyard.core.queue import OTHER_APPLICATION, parse_queue
from steelyard.core.report import Report, Traffic
from tests.agent.conftest import Served


def report(balancer: str, epoch: str, version: int, **inflight: int) -> str:
    workers = {
        name: Traffic(inflight=n, requests=n, failures=0, bytes=0, seconds=0)
        for name, n in inflight.items()
    }
    told = Report(balancer=balancer, epoch=epoch, version=version, workers=workers)
    return told.model_dump_json()


async def until(true) -> None:
    while not true():
        await asyncio.sleep(0.01)


async def test_a_balancer_gets_the_queue_when_it_connects_and_when_it_changes(served: Served):
    """A balancer gets the complete queue when it connects and after each change."""
    first, second = served.boot()
    async with served.link("b1") as link:
        queue = parse_queue(await link.recv())
        assert {entry.name for entry in queue.workers} == {first, second}
        served.agent.tell(ev.Exited(first, "killed by SIGKILL"))
        changed = parse_queue(await link.recv())
        assert [entry.name for entry in changed.workers] == [second]
        assert (changed.epoch, changed.version > queue.version) == (queue.epoch, True)


async def test_reports_reach_the_fleet(served: Served):
    """The fleet learns the in-flight counts and the version of the queue from a report."""
    first, _ = served.boot()
    async with served.link("b1") as link:
        queue = parse_queue(await link.recv())
        await link.send(report("b1", queue.epoch, queue.version, **{first: 3}))
        links = served.agent.fleet.links
        await until(lambda: links.open_exchanges(first) == 3)
        assert links.by_name["b1"].version == queue.version


async def test_a_wrong_token_is_refused(served: Served):
    """A link with a wrong token is refused before it is opened."""
    with pytest.raises(websockets.InvalidStatus) as caught:
        async with served.link("b1", token="wrong"):
            pass
    assert caught.value.response.status_code == 403
    assert served.agent.fleet.links.by_name == {}


async def test_a_malformed_report_closes_the_link_with_its_reason(served: Served):
    """A malformed report closes the link with a reason and does not reach the fleet."""
    served.boot()
    async with served.link("b1") as link:
        await link.recv()
        await link.send('{"balancer": ""}')
        await link.wait_closed()
    assert "malformed report" in link.close_reason


async def test_a_report_in_bytes_is_read_all_the_same(served: Served):
    """A report in a binary message is accepted like one in a text message."""
    first, _ = served.boot()
    async with served.link("b1") as link:
        await link.send(report("b1", "e", 0, **{first: 3}).encode())
        await until(lambda: served.agent.fleet.links.open_exchanges(first) == 3)


async def test_a_report_under_another_name_closes_the_link(served: Served):
    """A report under another name is refused, or drains would wait for that balancer for ever."""
    served.boot()
    async with served.link("b1") as link:
        await link.send(report("b2", "e", 0))
        await link.wait_closed()
    assert "this link belongs to b1" in link.close_reason
    assert "b2" not in served.agent.fleet.links.by_name


async def test_a_broken_link_is_noticed_and_a_new_one_takes_its_place(served: Served):
    """A balancer whose link broke is lost, and joins again under the same name."""
    served.boot()
    links = served.agent.fleet.links
    async with served.link("b1") as link:
        await link.recv()
        assert links.by_name["b1"].lost_at is None
    await until(lambda: links.by_name["b1"].lost_at is not None)
    async with served.link("b1") as link:
        await link.recv()
        assert links.by_name["b1"].lost_at is None


async def test_an_old_link_that_closes_late_does_not_lose_the_new_one(served: Served):
    """The end of an old link does not lose a balancer that has reconnected before."""
    served.boot()
    links = served.agent.fleet.links
    old = await served.link("b1")
    await old.recv()
    async with served.link("b1") as link:
        await link.recv()
        await old.close()
        await until(lambda: len(served.agent.hub._fresh) == 1)
        assert links.by_name["b1"].lost_at is None


async def test_an_old_link_that_outlives_the_new_one_is_lost_when_it_closes(served: Served):
    """A balancer is lost when its last link closes, even if that is the older one."""
    first, _ = served.boot()
    links = served.agent.fleet.links
    async with served.link("b1") as old:
        await old.recv()
        async with served.link("b1") as link:
            await link.recv()
        await until(lambda: len(served.agent.hub._fresh) == 1)
        await old.send(report("b1", "e", 0, **{first: 3}))
        await until(lambda: links.open_exchanges(first) == 3)
        assert links.by_name["b1"].lost_at is None
    await until(lambda: links.by_name["b1"].lost_at is not None)


async def test_a_balancer_of_another_application_is_told_of_in_the_status(served: Served):
    """It is no balancer of this fleet, and whatever name it sends, the note has one line."""
    served.boot()
    async with served.link("b1") as link:
        await link.recv()
        await link.close(OTHER_APPLICATION, "shop\nforged")
    await until(lambda: served.agent.status().notes)
    told = served.agent.status()
    [note] = told.notes
    assert note.startswith("balancer b1 follows this agent, but serves the application 'shop\\n")
    assert "not 'app'" in note
    assert told.balancers == []
    async with served.link("b1") as link:
        queue = parse_queue(await link.recv())
        await link.send(report("b1", queue.epoch, queue.version))
        await until(lambda: not served.agent.status().notes)
