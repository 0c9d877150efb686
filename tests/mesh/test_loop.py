"""The loop that drives a desk or a crew."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from math import inf
from queue import SimpleQueue

import pytest

from steelyard.mesh.loop import Loop

PATIENCE = 60.0


class Stage:
    """A loop, and the events that it handled, with the thread of each."""

    def __init__(self) -> None:
        self.told: SimpleQueue[tuple[list[str], str]] = SimpleQueue()
        self.due = inf
        self.began, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.loop = Loop("the loop's own", self._handle)

    def _handle(self, happened: Sequence[str], _: float) -> float:
        self.told.put((list(happened), threading.current_thread().name))
        self.began.set()
        self.go_on.wait(PATIENCE)
        if "bug" in happened:
            raise RuntimeError("as was asked for")
        due, self.due = self.due, inf
        return due

    def next(self) -> tuple[list[str], str]:
        return self.told.get(timeout=PATIENCE)


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    stage.loop.start()
    yield stage
    stage.loop.close()


def test_what_is_put_in_together_is_taken_in_together(stage: Stage) -> None:
    """Events of one `put` are handled together, by the loop's own thread."""
    stage.loop.put("a", "b")
    assert stage.next() == (["a", "b"], "the loop's own")


def test_what_is_taken_in_here_is_done_when_it_returns(stage: Stage) -> None:
    """Events of `here` are handled by the caller's thread before it returns."""
    stage.loop.here("a")
    assert stage.told.get_nowait() == (["a"], threading.current_thread().name)


def test_two_threads_never_handle_at_the_same_time(stage: Stage) -> None:
    """While one thread handles events, another only adds its own."""
    stage.go_on.clear()
    stage.loop.put("a")
    assert stage.began.wait(PATIENCE)
    stage.loop.here("b")
    stage.loop.here("c")
    assert stage.told.qsize() == 1
    stage.go_on.set()
    assert [stage.next(), stage.next()] == [
        (["a"], "the loop's own"),
        (["b", "c"], "the loop's own"),
    ]


def test_what_is_due_is_done_on_time_whoever_found_it_to_be(stage: Stage) -> None:
    """The loop wakes up earlier if another thread makes its next event earlier."""
    stage.due = time.monotonic() + 3600
    stage.loop.put("a")
    stage.next()
    stage.due = due = time.monotonic() + 0.01
    stage.loop.here("b")
    stage.next()
    assert stage.next() == ([], "the loop's own")
    assert time.monotonic() >= due


def test_a_bug_ends_nothing(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """A bug is logged with the kinds of the events, as the events may be large, and the loop goes
    on.
    """
    stage.loop.here("bug")
    stage.loop.put("a")
    assert [stage.next()[0], stage.next()[0]] == [["bug"], ["a"]]
    assert "could not handle str" in caplog.text


def test_what_is_due_and_fails_is_not_tried_at_once_again() -> None:
    """After an error the loop waits before it tries again, or the log would fill up."""
    stage = Stage()
    stage.due = before = time.monotonic()
    stage.loop.here("a")
    stage.loop.here("bug")
    assert stage.loop._due >= before + 1.0
    stage.loop._due = inf
    stage.loop.here("bug")
    assert stage.loop._due < inf  # what failed may succeed then


def test_what_was_put_in_before_the_end_is_taken_in(stage: Stage) -> None:
    """Events before `close` are handled, and none after it."""
    stage.go_on.clear()
    stage.loop.put("a")
    assert stage.began.wait(PATIENCE)
    stage.loop.put("b")
    closing = threading.Thread(target=stage.loop.close)
    closing.start()
    stage.go_on.set()
    closing.join(PATIENCE)
    stage.loop.here("c")
    assert [stage.next()[0], stage.next()[0]] == [["a"], ["b"]]
    assert stage.told.empty()
