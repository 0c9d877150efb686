"""Which lines `steelyard logs` prints, and in what form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from steelyard.cli import logs as command
from steelyard.cli.client import LostAgentError, NoAgentError, RefusedError
from steelyard.core.log_line import LogLine
from steelyard.core.status import FleetStatus, status
from steelyard.errors import UsageError
from tests.core.driver import Driver


def line(worker: str, text: str, second: int | None = None) -> LogLine:
    at = None if second is None else datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC)
    return LogLine(time=at, worker=worker, text=text)


class FakeClient:
    """A client that knows a fleet, and the log of a worker that has ended."""

    def __init__(self) -> None:
        driver = Driver(min=3).booted()
        self.fleet = status(driver.fleet, driver.now)
        self.names = [worker.name for worker in self.fleet.workers]
        self.answers: list[list[LogLine] | Exception] = []
        self.asked: list[tuple[str | None, int, bool, bool]] = []

    def status(self) -> FleetStatus:
        return self.fleet

    def logs(self, worker: str, lines: int) -> str:
        if worker not in {*self.names, "ended"}:
            raise RefusedError("no log")
        return "text\n"

    def lines(
        self, worker: str | None, lines: int, *, follow: bool, probes: bool
    ) -> Iterator[LogLine]:
        self.asked.append((worker, lines, follow, probes))
        if not self.answers:
            yield line(worker or "all", f"{lines} lines of {worker}")
            return
        for item in self.answers.pop(0):
            if isinstance(item, Exception):
                raise item
            yield item


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    fake = FakeClient()
    monkeypatch.setattr(command, "client_for", lambda *_: fake)
    return fake


def test_a_part_of_a_name_is_enough(client, capsys):
    """A part of a name finds a running worker, the full name an ended one; lines have no prefix."""
    command.logs(client.names[0], 7)
    command.logs("ended", 8)
    assert capsys.readouterr().out == f"7 lines of {client.names[0]}\n8 lines of ended\n"


@pytest.mark.parametrize(
    ("text", "says"), [("w", "3 workers match “w”"), ("nobody", "no worker matches “nobody”")]
)
def test_a_part_that_does_not_tell_one_worker_is_refused(client, text, says):
    """An ambiguous or unknown part is refused with the names of all workers."""
    with pytest.raises(UsageError, match=says) as error:
        command.logs(text, 1)
    assert all(name in error.value.hint for name in client.names)


def test_lines_of_all_workers_are_in_the_order_of_their_times(client, capsys):
    """Each line follows its time and worker; nothing in a line is taken for markup."""
    client.answers = [[line("a", "1", 1), line("a", "[bold]4[/]", 4), line("b", "2", 2)]]
    command.logs(None, 5)
    shown = capsys.readouterr().out.splitlines()
    assert [one.split(" ", 2)[2] for one in shown] == ["a | 1", "b | 2", "a | [bold]4[/]"]
    assert all(one.split(" ")[1].endswith(".000") for one in shown)


def test_without_times_workers_come_one_after_the_other(client, capsys):
    """Lines without times keep the agent's order, and are printed without a time."""
    client.answers = [[line("b", "1"), line("b", "2"), line("a", "3")]]
    command.logs(None, 5)
    assert capsys.readouterr().out == "b | 1\nb | 2\na | 3\n"


@pytest.mark.parametrize("follow", [True, False])
def test_json_has_one_object_per_line(client, capsys, follow):
    """Each object has a time, a worker and a text."""
    client.answers = [[line("a", 'say "hi"', 1), line("b", "2")]]
    command.logs(None, 5, follow, json=True)
    found = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert [(one["worker"], one["text"]) for one in found] == [("a", 'say "hi"'), ("b", "2")]
    assert [one["time"] for one in found] == ["2026-01-01T00:00:01Z", None]


def test_following_goes_on_with_the_successor_of_an_agent_that_was_killed(client, capsys):
    """After a reconnection no line is repeated, and a message says that some may be missing."""
    client.answers = [
        [line("a", "1", 1), LostAgentError("the agent went away")],
        [line("a", "2", 2)],
    ]
    command.logs(None, 5, True)
    told = capsys.readouterr()
    assert [one[-1] for one in told.out.splitlines()] == ["1", "2"]
    assert "lines may be missing" in told.err
    assert [lines for _, lines, _, _ in client.asked] == [5, 0]


def test_following_an_agent_that_is_not_there_fails_at_once(client):
    """Only an agent that answered before is waited for."""
    client.answers = [[NoAgentError("no agent answers")]]
    with pytest.raises(NoAgentError):
        command.logs(None, 5, True)
