"""Real nodes over Zenoh die, hang and come back: each unit is answered once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from steelyard import mesh
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.mesh.e2e.workers import Worker
from tests.waiting import wait_until


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def began(folder: Path) -> list[Path]:
    return list(folder.glob("*.began"))


def test_the_units_of_a_killed_node_are_done_by_others(stack: ExitStack, tmp_path: Path) -> None:
    """Units of a killed node are done by others, even if all nodes joined through it."""
    gate = tmp_path / "gate"
    seed = stack.enter_context(Worker(procs=2))
    others = [stack.enter_context(Worker(seed.endpoint, procs=2)) for _ in range(2)]
    client = stack.enter_context(mesh.Client(join=[seed.endpoint]))
    assert all(other.endpoint for other in others)
    assert client.wait_for_workers(6, PATIENCE)
    waiting = client.map(jobs.wait_for, [str(gate)] * 6, keys=range(6))
    many = client.map(jobs.double, range(500))
    wait_until(lambda: len(began(tmp_path)) == 6, PATIENCE)
    seed.kill()
    wait_until(lambda: client.workers() == 4, PATIENCE)
    late = stack.enter_context(Worker(others[0].endpoint, procs=2))
    assert late.endpoint
    assert client.wait_for_workers(6, PATIENCE)
    gate.touch()
    answers = [*waiting.as_completed(PATIENCE), *many.as_completed(PATIENCE)]
    assert all(answer.ok for answer in answers)
    assert Counter(answer.key for answer in answers[:6]) == dict.fromkeys(range(6), 1)
    assert sorted(answer.value for answer in answers[6:]) == list(range(0, 1000, 2))


def test_a_node_that_hangs_and_comes_back_delivers_nothing_twice(
    stack: ExitStack, tmp_path: Path
) -> None:
    """Other nodes do the units of a stopped node, and the results that it brings later are
    dropped.
    """
    gate = tmp_path / "gate"
    frozen = stack.enter_context(Worker(procs=1))
    client = stack.enter_context(mesh.Client(join=[frozen.endpoint]))
    job = client.map(jobs.wait_for, [str(gate)])
    wait_until(lambda: len(began(tmp_path)) == 1, PATIENCE)
    other = stack.enter_context(Worker(frozen.endpoint, procs=1))
    assert other.endpoint
    assert client.wait_for_workers(2, PATIENCE)
    frozen.freeze()
    wait_until(lambda: len(began(tmp_path)) == 2, PATIENCE)  # its lease is over
    gate.touch()
    (answer,) = job.as_completed(PATIENCE)
    assert answer.ok
    frozen.thaw()
    assert client.wait_for_workers(2, PATIENCE)
    answers = list(client.map(jobs.double, range(100)).as_completed(PATIENCE))
    assert sorted(answer.key for answer in answers) == list(range(100))
    assert job.done == 1


def test_a_node_that_is_told_to_end_finishes_first(stack: ExitStack, tmp_path: Path) -> None:
    """A rolling restart of all nodes loses nothing, and repeats nothing."""
    runs = tmp_path / "runs"
    runs.mkdir()
    first = stack.enter_context(Worker(procs=1))
    client = stack.enter_context(mesh.Client(join=[first.endpoint]))
    job = client.map(jobs.mark, [str(runs)] * 60, range(60), [0.02] * 60)
    wait_until(lambda: list(runs.iterdir()), PATIENCE)
    second = stack.enter_context(Worker(first.endpoint, procs=1))
    assert second.endpoint
    assert client.wait_for_workers(2, PATIENCE)
    assert first.terminate(PATIENCE) == 0
    answers = list(job.as_completed(PATIENCE))
    assert sorted(answer.value for answer in answers) == list(range(60))
    assert len(list(runs.iterdir())) == 60
