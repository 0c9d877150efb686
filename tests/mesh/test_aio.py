"""The client of asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from steelyard import mesh
from steelyard.mesh import aio
from steelyard.mesh.node import Node
from steelyard.mesh.transport.memory import Network
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.waiting import wait_until


async def test_answers_come_while_the_loop_goes_on(network: Network, nodes: list[Node]) -> None:
    """The event loop runs on while values and failures come, and a loop may be left early."""
    async with mesh.AsyncClient(link=network.link()) as client:
        found = {answer.key: answer.value async for answer in client.map(jobs.double, range(100))}
        assert found == {number: 2 * number for number in range(100)}
        one, other = await asyncio.gather(
            client.submit(jobs.add, 1, 2), client.submit(jobs.add, 3, 4)
        )
        assert (one, other) == (3, 7)
        with pytest.raises(mesh.UnitRaisedError):
            await client.submit(jobs.fail, 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.submit(jobs.snooze, 3600.0), 0.2)
        async for answer in client.map(jobs.double, range(100)):
            assert answer.ok
            break


async def test_who_leaves_the_loop_leaves_no_units(network: Network, nodes: list[Node]) -> None:
    """Leaving the loop early cancels the remaining units."""
    async with mesh.AsyncClient(link=network.link()) as client:
        answers = client.map(jobs.snooze, [0.0, *[3600.0] * 10])
        assert (await anext(answers)).ok
        await answers.aclose()  # type: ignore[attr-defined]
        await asyncio.to_thread(wait_until, lambda: client.client.status()["done"] == 11, PATIENCE)


async def test_a_generator_may_end_after_the_last_answer(
    network: Network, nodes: list[Node]
) -> None:
    """A task that waits for another answer ends when the generator does."""
    go_on = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        assert go_on.wait(PATIENCE)

    async with mesh.AsyncClient(link=network.link()) as client:
        answers = client.map(jobs.double, items())
        assert (await anext(answers)).value == 2
        rest = asyncio.ensure_future(anext(answers, None))
        await asyncio.sleep(0)  # let the task begin to wait
        go_on.set()
        assert await asyncio.wait_for(rest, PATIENCE) is None


async def test_it_has_to_be_entered() -> None:
    """Without `async with` there is no client."""
    with pytest.raises(RuntimeError, match="async with"):
        await mesh.AsyncClient().submit(jobs.double, 1)


class Held:
    """A function that waits before it calls the real one, and keeps its result."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.made: list[Any] = []

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        self.made.append(self._make(*args, **options))
        return self.made[-1]

    async def is_cancelled(self, task: asyncio.Task[Any]) -> None:
        """Cancel the task while the object is being made."""
        assert await asyncio.to_thread(self.begun.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        self.go_on.set()


async def test_who_does_not_want_to_enter_leaves_nothing(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling `async with` while it enters closes the client that is made later."""
    held = Held(mesh.Client)
    monkeypatch.setattr(aio, "Client", held)

    async def enter() -> None:
        async with mesh.AsyncClient(link=network.link()):
            raise AssertionError

    await held.is_cancelled(asyncio.create_task(enter()))
    await asyncio.to_thread(wait_until, lambda: held.made and held.made[0]._closed, PATIENCE)


async def test_who_does_not_want_a_job_leaves_no_units(
    network: Network, nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling `map` while it starts cancels the units of its job."""
    async with mesh.AsyncClient(link=network.link()) as client:
        held = Held(client.client.map)
        monkeypatch.setattr(client.client, "map", held)

        async def look() -> None:
            async for _ in client.map(jobs.snooze, [3600.0] * 10):
                raise AssertionError

        await held.is_cancelled(asyncio.create_task(look()))
        await asyncio.to_thread(wait_until, lambda: held.made, PATIENCE)
        assert await asyncio.to_thread(held.made[0].wait, PATIENCE)


async def test_others_have_their_turn_while_answers_are_there(
    network: Network, nodes: list[Node]
) -> None:
    """Other tasks get their turn although the next answer is there already."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with mesh.AsyncClient(link=network.link()) as client:
        answers = client.map(jobs.double, range(320))
        await anext(answers)
        await asyncio.to_thread(wait_until, lambda: client.client.status()["done"] == 320, PATIENCE)
        task = asyncio.create_task(others())
        assert len([answer async for answer in answers]) == 319
        task.cancel()
    assert turns >= 319 // aio.TURN


def test_an_event_loop_that_has_ended_is_not_told(
    network: Network, nodes: list[Node], caplog: pytest.LogCaptureFixture
) -> None:
    """A job whose event loop was closed logs no error, and other jobs go on."""
    loop = asyncio.new_event_loop()
    client = mesh.AsyncClient(link=network.link())
    loop.run_until_complete(client.__aenter__())
    answers = client.map(jobs.snooze, [0.0, 0.3])
    assert loop.run_until_complete(anext(answers)).ok
    loop.close()
    assert client.client.map(jobs.snooze, [0.6] * 8).values(PATIENCE) == [0.6] * 8
    client.client.close()
    assert caplog.text == ""
