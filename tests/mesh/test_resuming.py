"""Clients that keep a journal, and die."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard import mesh
from steelyard.errors import UsageError
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE


def test_a_client_that_died_goes_on_with_its_journal(
    new_client: Callable[..., mesh.Client], tmp_path: Path
) -> None:
    """A new client with the same journal delivers all units, and runs only those without a
    value.
    """
    journal, runs = tmp_path / "journal", tmp_path / "runs"
    runs.mkdir()
    first = new_client(journal=journal)
    folder = [str(runs)] * 30
    assert len(first.map(jobs.mark, folder[:20], range(20)).values(PATIENCE)) == 20
    assert first.map(jobs.fail, [1]).wait(PATIENCE)
    first.close()
    second = new_client(journal=journal)
    assert second.map(jobs.mark, folder, range(30)).values(PATIENCE) == list(range(30))
    done = [int(path.name.partition(".")[0]) for path in runs.iterdir()]
    assert sorted(done) == list(range(30))
    (answer,) = second.map(jobs.fail, [1]).as_completed(PATIENCE)
    assert not answer.ok


def test_what_is_asked_for_twice_is_done_twice(
    new_client: Callable[..., mesh.Client], tmp_path: Path
) -> None:
    """Equal units of one client are all run; the next client finds each of them in the journal."""
    journal, runs = tmp_path / "journal", tmp_path / "runs"
    runs.mkdir()
    for life in (1, 2):
        client = new_client(journal=journal)
        for _ in range(2):
            client.submit(jobs.mark, str(runs), 7).result(PATIENCE)
            client.map(jobs.mark, [str(runs)], [8]).values(PATIENCE)
        client.close()
        assert len(list(runs.iterdir())) == 4, life


def test_answers_are_worth_more_than_the_journal(
    new_client: Callable[..., mesh.Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If the journal cannot be written, answers still come, and the log says so."""
    client, gate = new_client(journal=tmp_path / "journal"), tmp_path / "gate"
    future = client.submit(jobs.wait_for, str(gate))
    client._sinks.close()
    gate.touch()
    assert future.result(PATIENCE) == str(gate)
    assert "journal cannot be used" in caplog.text


def test_a_closed_client_ends_a_job_that_its_journal_knows(
    new_client: Callable[..., mesh.Client], tmp_path: Path
) -> None:
    """Answers from the journal that come after `close` do not count."""
    first = new_client(journal=tmp_path / "journal")
    assert len(first.map(jobs.double, range(40)).values(PATIENCE)) == 40
    first.close()
    second = new_client(journal=tmp_path / "journal")
    looked = threading.Event()

    def items() -> Iterator[int]:
        yield from range(20)
        looked.wait(PATIENCE)
        yield from range(20, 40)

    job = second.map(jobs.double, items())
    second.close()
    looked.set()
    with pytest.raises(UsageError, match="closed"):
        list(job.as_completed(PATIENCE))
    assert job.done == job.total
