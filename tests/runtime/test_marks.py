"""The mark in a worker's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.usage import Allowance
from steelyard.runtime.marks import Mark, read_mark, worker_environment

FULL = Mark("/home", "app", "one", 21000, Allowance(0.5, 1024), (Path("/a"), Path("/b")))


@pytest.mark.parametrize("mark", [FULL, Mark("/home", "app", "one", 21000)])
def test_mark_is_read_as_it_was_written(mark: Mark) -> None:
    """The next agent reads what this agent wrote."""
    assert read_mark(mark.variables()) == mark


@pytest.mark.parametrize("change", [{"PORT": "x"}, {"STEELYARD_CPUS": "x"}])
def test_mark_that_makes_no_sense_is_none(change: dict[str, str]) -> None:
    """A process with malformed variables is not taken for a worker."""
    assert read_mark(FULL.variables() | change) is None
    assert read_mark({}) is None


def test_who_wins_in_the_environment() -> None:
    """The user's variables override inherited ones and our defaults; the mark overrides all."""
    inherited = {"A": "inherited", "B": "inherited", "STEELYARD_MEMORY": "1"}
    added = {"B": "added", "HOST": "::1", "PORT": "1", "STEELYARD_WORKER": "fake"}
    mark = Mark("/home", "app", "one", 21000)
    seen = worker_environment(inherited, added, mark)
    assert (seen["A"], seen["B"], seen["HOST"]) == ("inherited", "added", "::1")
    assert read_mark(seen) == mark
