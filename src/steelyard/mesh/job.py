"""Units that were submitted together."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import Fault, SteelyardError
from steelyard.mesh.answer import Answer
from steelyard.mesh.execution.wire import unpack

MANY = 128  # answers


class JobTimeoutError(SteelyardError, TimeoutError):
    """The answer did not come in the time that the caller had."""

    fault = Fault.MACHINE
    retry = True


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is."""

    done: int
    total: int
    failed: int
    workers: int  # children of all nodes that are there
    seconds: float  # since it began
    eta: float | None  # seconds that are left, if it goes on like this

    def __str__(self) -> str:
        left = "" if self.eta is None else f", {self.eta:.0f} s left"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.total} units{failed}, {self.workers} workers{left}"


class Job:
    """Answers, as they come, each of them once. Iterating it is `as_completed`."""

    def __init__(self, total: int, workers: Callable[[], int], drop: Callable[[], None]) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self._workers, self._drop = workers, drop
        self._began = time.monotonic()
        self._answers: deque[Answer] = deque()
        lock = threading.Lock()
        self._arrived = threading.Condition(lock)
        self._many = threading.Condition(lock)  # for who need not see each of them at once
        self._tell: Callable[[], None] | None = None
        self._taken = 0

    def deliver(self, answers: Sequence[Answer]) -> None:
        """More units have ended; called by the client, with each of them once."""
        with self._arrived:
            self.done += len(answers)
            self.failed += sum(not answer.ok for answer in answers)
            self._answers += answers
            self._arrived.notify_all()
            if self._worth_a_look():
                self._many.notify_all()
            tell = self._tell
        if tell is not None:
            tell()

    def tell(self, arrived: Callable[[], None]) -> None:
        """Call this, from any thread, when an answer has come; and now, for those that have."""
        with self._arrived:
            self._tell = arrived
        arrived()

    def next_now(self) -> Answer | None:
        """The next answer, if it is there."""
        with self._arrived:
            return self._take() if self._answers else None

    def _take(self) -> Answer:
        self._taken += 1
        return self._answers.popleft()

    def as_completed(self, timeout: float | None = None) -> Iterator[Answer]:
        """Each answer once, the first first; `timeout` seconds for all of them."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._arrived:
                if self._taken == self.total:
                    return
                left = None if end is None else max(0.0, end - time.monotonic())
                if not self._arrived.wait_for(lambda: bool(self._answers), left):
                    raise JobTimeoutError(f"timed out: {self.progress}")
                answer = self._take()
            yield answer

    def __iter__(self) -> Iterator[Answer]:
        return self.as_completed()

    def values(self, timeout: float | None = None) -> list[Any]:
        """All values, in the order of what was submitted; the first failure is raised."""
        end = None if timeout is None else time.monotonic() + timeout
        found: dict[int, Any] = {}
        while self._taken < self.total:
            for answer in self._take_many(end):
                if answer.error is not None:
                    self.cancel()
                    raise answer.error
                found[answer.position] = unpack(answer.packed)
        return [found[position] for position in range(self.total)]

    def _take_many(self, end: float | None) -> Iterable[Answer]:
        """Those that are there, when they are enough to wake somebody up for."""
        with self._many:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._many.wait_for(self._worth_a_look, left):
                raise JobTimeoutError(f"timed out: {self.progress}")
            answers, self._answers = self._answers, deque()
            self._taken += len(answers)
        return answers

    def _worth_a_look(self) -> bool:
        return self.done == self.total or self.failed > 0 or len(self._answers) >= MANY

    def wait(self, timeout: float | None = None) -> bool:
        """Until every unit has ended; False when the time was over before."""
        with self._arrived:
            return self._arrived.wait_for(lambda: self.done == self.total, timeout)

    def cancel(self) -> None:
        """Units that have not ended end as CANCELLED."""
        if self.done < self.total:
            self._drop()

    @property
    def progress(self) -> Progress:
        """How far it is."""
        seconds = time.monotonic() - self._began
        left = self.total - self.done
        eta = seconds / self.done * left if self.done else None
        return Progress(self.done, self.total, self.failed, self._workers(), seconds, eta)
