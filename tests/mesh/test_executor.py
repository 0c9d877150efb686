"""A mesh in place of a ProcessPoolExecutor."""

from __future__ import annotations

from concurrent.futures import as_completed

import pytest

from steelyard import mesh
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE


def test_it_is_an_executor(client: mesh.Client) -> None:
    """Programs need no change but this line."""
    with mesh.MeshExecutor(client) as executor:
        assert list(executor.map(jobs.double, range(20), timeout=PATIENCE)) == list(range(0, 40, 2))
        futures = [executor.submit(jobs.add, number, 1) for number in range(5)]
        assert sorted(one.result() for one in as_completed(futures, PATIENCE)) == [1, 2, 3, 4, 5]


def test_shutting_down_cancels_when_asked(client: mesh.Client) -> None:
    """The client stays open."""
    executor = mesh.MeshExecutor(client)
    future = executor.submit(jobs.snooze, 3600.0)
    executor.shutdown(cancel_futures=True)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(jobs.double, 1)
    assert future.cancelled()
    assert client.submit(jobs.double, 4).result(PATIENCE) == 8
