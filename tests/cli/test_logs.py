"""Whose lines `steelyard logs` prints."""

from __future__ import annotations

import pytest

from steelyard.cli import logs as command
from steelyard.cli.client import RefusedError
from steelyard.core.status import FleetStatus, status
from steelyard.errors import UsageError
from tests.core.driver import Driver


class FakeClient:
    """Knows a fleet, and the log of a worker that has ended."""

    def __init__(self) -> None:
        driver = Driver(min=3).booted()
        self.fleet = status(driver.fleet, driver.now)
        self.names = [worker.name for worker in self.fleet.workers]

    def status(self) -> FleetStatus:
        return self.fleet

    def logs(self, worker: str, lines: int) -> str:
        if worker not in {*self.names, "ended"}:
            raise RefusedError("no log")
        return f"{lines} lines of {worker}\n"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    fake = FakeClient()
    monkeypatch.setattr(command, "client_for", lambda *_: fake)
    return fake


def test_a_part_of_a_name_is_enough(client, capsys):
    """And an ended worker is found by its full name."""
    command.logs(client.names[0], 7)
    command.logs("ended", 8)
    assert capsys.readouterr().out == f"7 lines of {client.names[0]}\n8 lines of ended\n"


@pytest.mark.parametrize(
    ("text", "says"), [("w", "3 workers match “w”"), ("nobody", "no worker matches “nobody”")]
)
def test_a_part_that_does_not_tell_one_worker_is_refused(client, text, says):
    """With the names that there are."""
    with pytest.raises(UsageError, match=says) as error:
        command.logs(text, 1)
    assert all(name in error.value.hint for name in client.names)
