"""Jobs, and the ways to take their answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard import mesh
from steelyard.errors import UsageError
from steelyard.mesh.answer import Answer
from steelyard.mesh.job import Job
from steelyard.mesh.protocol.lifecycle import State
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.waiting import wait_until


def test_waiting_for_answers_has_an_end(client: mesh.Client, tmp_path: Path) -> None:
    """The error after a timeout says how far the job is."""
    path = tmp_path / "later"
    job = client.map(jobs.wait_for, [str(path)])
    with pytest.raises(mesh.JobTimeoutError, match="timed out: 0 of 1 units, 4 workers"):
        list(job.as_completed(0.05))
    path.touch()
    assert job.values(PATIENCE) == [str(path)]
    assert str(job.progress) == "1 of 1 units, 4 workers, 0 s left"


def test_values_are_there_once_and_for_all(client: mesh.Client) -> None:
    """`values` may be called again, but not after answers were taken one by one."""
    job = client.map(jobs.double, range(3))
    assert job.values(PATIENCE) == job.values(PATIENCE) == [0, 2, 4]
    mixed = client.map(jobs.fail, range(3))
    next(mixed.as_completed(PATIENCE))
    with pytest.raises(UsageError, match="taken already"):
        mixed.values(PATIENCE)


def test_values_can_be_asked_for_again(client: mesh.Client, tmp_path: Path) -> None:
    """After a timeout `values` goes on where it was; a failure is raised by every call."""
    gate = tmp_path / "gate"
    gates = [str(tmp_path)] * 150 + [str(gate)]
    job = client.map(jobs.mark_after, gates, [str(tmp_path)] * 151, range(151))
    wait_until(lambda: job.done == 150, PATIENCE)
    with pytest.raises(mesh.JobTimeoutError):
        job.values(0.1)
    gate.touch()
    assert job.values(PATIENCE) == list(range(151))
    failing = client.map(jobs.fail, range(300))
    for _ in range(2):
        with pytest.raises(mesh.UnitRaisedError):
            failing.values(PATIENCE)


def test_values_do_not_wait_for_others_when_one_has_failed(client: mesh.Client) -> None:
    """`values` raises the first failure without waiting for the other units."""
    job = client.map(jobs.snooze, [3600.0, "soon"])
    with pytest.raises(mesh.UnitRaisedError, match="TypeError"):
        job.values(PATIENCE)


def test_a_handler_of_a_signal_may_cancel(client: mesh.Client) -> None:
    """A signal handler may cancel a job while its own thread takes an answer or submits."""
    job = client.map(jobs.snooze, [3600.0])
    with client._sending, job._arrived:
        job.cancel()
    assert job.wait(PATIENCE)


def test_nobody_knows_how_long_it_takes_without_workers() -> None:
    """Without workers there is no estimate of the time left, unless all units are done."""
    workers = 1
    job = Job(2, lambda: workers, lambda: None)
    job.admit(2)
    job.deliver([Answer(1, State.DONE)])
    assert job.progress.eta is not None
    workers = 0
    assert job.progress.eta is None
    job.deliver([Answer(2, State.DONE)])
    job.seal()
    assert job.progress.eta == 0
