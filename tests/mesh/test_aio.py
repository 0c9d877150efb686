"""The client of asyncio."""

from __future__ import annotations

import asyncio

import pytest

from steelyard import mesh
from steelyard.mesh.node import Node
from steelyard.mesh.transport.memory import Network
from tests.mesh import jobs


async def test_answers_come_while_the_loop_goes_on(network: Network, nodes: list[Node]) -> None:
    """Values, failures and a loop that is left early."""
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


async def test_it_has_to_be_entered() -> None:
    """Without `async with` there is no client."""
    with pytest.raises(RuntimeError, match="async with"):
        await mesh.AsyncClient().submit(jobs.double, 1)
