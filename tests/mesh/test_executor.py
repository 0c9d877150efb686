"""A mesh in place of a ProcessPoolExecutor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed, wait

import pytest

from steelyard import mesh
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.waiting import wait_until


def test_it_is_an_executor(client: mesh.Client) -> None:
    """A program that uses an executor needs no other change."""
    with mesh.MeshExecutor(client) as executor:
        assert list(executor.map(jobs.double, range(20), timeout=PATIENCE)) == list(range(0, 40, 2))
        futures = [executor.submit(jobs.add, number, 1) for number in range(5)]
        assert sorted(one.result() for one in as_completed(futures, PATIENCE)) == [1, 2, 3, 4, 5]


def test_an_executor_keeps_nothing_that_is_done(client: mesh.Client) -> None:
    """An executor forgets finished futures, or its memory would fill with values."""
    executor = mesh.MeshExecutor(client)
    assert executor.submit(jobs.double, 4).result(PATIENCE) == 8
    wait_until(lambda: not executor._futures, PATIENCE)


def test_shutting_down_cancels_when_asked(client: mesh.Client) -> None:
    """Shutting an executor down may cancel its futures, and leaves the client open."""
    executor = mesh.MeshExecutor(client)
    future = executor.submit(jobs.snooze, 3600.0)
    executor.shutdown(cancel_futures=True)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(jobs.double, 1)
    assert future.cancelled()
    assert client.submit(jobs.double, 4).result(PATIENCE) == 8


def test_who_waits_for_several_is_told_of_cancelled_ones(client: mesh.Client) -> None:
    """`concurrent.futures.wait` returns when futures are cancelled, as with the standard
    library's.
    """
    futures = [client.submit(jobs.snooze, 3600.0) for _ in range(3)]
    assert all(future.cancel() for future in futures)
    assert futures[0].cancel()
    assert wait(futures, PATIENCE).not_done == set()


def test_a_future_may_be_cancelled_while_the_executor_shuts_down(client: mesh.Client) -> None:
    """Another thread may cancel a future while the executor shuts down."""
    executor = mesh.MeshExecutor(client)
    future = executor.submit(jobs.snooze, 3600.0)
    with ThreadPoolExecutor() as threads:
        shut = threads.submit(executor.shutdown)
        with pytest.raises(TimeoutError):
            shut.result(0.1)
        future.cancel()
        shut.result(PATIENCE)
