"""The output of `steelyard status`."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from steelyard.cli.common import resolve_worker
from steelyard.cli.status import duration, show_status
from steelyard.core import events as ev
from steelyard.core.events import RuntimeLost
from steelyard.core.status import FleetStatus, status
from steelyard.errors import UsageError
from tests.core.driver import Driver


def told(driver: Driver) -> FleetStatus:
    return status(driver.fleet, driver.now)


def shown(what: FleetStatus, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    show_status(console, what)
    return console.file.getvalue()


def test_workers_verdict_and_decisions_are_shown():
    """Status shows the workers, the policy's verdict, and the last decisions with reasons."""
    driver = Driver().booted()
    driver.ticks(4, load=100)
    text = shown(told(driver))
    assert "app: 2 of 3 workers ready, 2…4 allowed" in text
    assert "held: 1 booting" in text
    assert "mean U 100 ≥ 60, high for 2 s → +1" in text
    assert text.count("default") == 2


@pytest.mark.parametrize(
    ("handles", "column", "cells"),
    [
        (("4711", ""), "pid", ["4711", ""]),
        (("c0ffee" * 8, "beef" * 16), "id", ["c0ffeec0ffee", "beefbeefbeef"]),
    ],
)
def test_a_worker_is_shown_with_what_the_machine_calls_it(handles, column, cells):
    """A process has its pid, a container the id that `docker ps` shows."""
    what = told(Driver().booted())
    workers = [one.model_copy(update={"handle": handle})
               for one, handle in zip(what.workers, handles, strict=True)]  # fmt: skip
    text = shown(what.model_copy(update={"workers": workers}))
    head, *rows = [line.split() for line in text.splitlines()[3:6]]
    assert head[:3] == ["worker", column, "state"]
    assert [row[1] for row in rows] == [cell or "LU" for cell in cells]


def test_a_narrow_terminal_shows_whole_names():
    """A name that is cut off cannot be given to `drain` or `logs`."""
    what = told(Driver().booted())
    workers = [one.model_copy(update={"name": f"steelyard-app-{n:08}"}) for n, one in
               enumerate(what.workers)]  # fmt: skip
    text = shown(what.model_copy(update={"workers": workers}), width=80)
    assert all(one.name in text for one in workers)
    assert "…" not in text.partition("worker ")[2]


def test_an_empty_fleet_and_its_trouble_are_shown():
    """Status shows why nothing starts, and what clients get meanwhile."""
    driver = Driver()
    for worker in driver.open():
        if hasattr(worker, "worker"):
            driver.tell(ev.Exited(worker.worker, "exit code [1]"))
    text = shown(told(driver))
    assert "ended before it was ready: exit code [1]" in text
    assert "no worker is ready: requests are answered 503" in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7300, "2 h 1 min")]
)
def test_time_spans_are_short(seconds, text):
    """A duration has at most two units."""
    assert duration(seconds) == text


def test_a_worker_is_found_by_any_part_that_only_it_has():
    """A full name wins over a part; two matches are refused with the names."""
    what = told(Driver(min=3).booted())
    names = [worker.name for worker in what.workers]
    assert resolve_worker(what, names[1]) == names[1]
    assert resolve_worker(what, names[1][-1]) == names[1]
    with pytest.raises(UsageError, match=r"3 workers match “w”"):
        resolve_worker(what, "w")
    with pytest.raises(UsageError, match=r"no worker matches “nobody”"):
        resolve_worker(what, "nobody")


def test_a_runtime_that_is_away_is_shown_with_the_reason():
    """Status shows that the runtime does not answer, and what is suspended meanwhile."""
    driver = Driver().booted()
    driver.tell(RuntimeLost("no engine"))
    driver.now += 12
    text = shown(told(driver))
    assert "the runtime has been unreachable for 12 s: no engine; until it answers" in text
