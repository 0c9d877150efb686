"""A job: units that were submitted together."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import Fault, SteelyardError, UsageError
from steelyard.mesh.answer import Answer
from steelyard.mesh.execution.wire import unpack

MANY = 128  # answers that are worth waking the thread in `values`


class JobTimeoutError(SteelyardError, TimeoutError):
    """The answer did not come within the caller's timeout."""

    fault = Fault.MACHINE
    retry = True


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job."""

    done: int
    total: int | None  # None while units come from a generator that has not ended
    failed: int
    workers: int  # children that may run its units
    seconds: float  # since the job began
    eta: float | None  # seconds left, at the mean rate so far

    def __str__(self) -> str:
        left = "" if self.eta is None else f", {self.eta:.0f} s left"
        failed = f", {self.failed} failed" if self.failed else ""
        total = "" if self.total is None else f" of {self.total}"
        return f"{self.done}{total} units{failed}, {self.workers} workers{left}"


class Job:
    """The answers of a job, each of them once, as they come. Iterating it is `as_completed`."""

    def __init__(
        self, total: int | None, workers: Callable[[], int], drop: Callable[[], None]
    ) -> None:
        self.total = total  # None while it is not known
        self.done = 0
        self.failed = 0
        self._workers, self._drop = workers, drop
        self._began = time.monotonic()
        self._answers: deque[Answer] = deque()
        # Reentrant: a signal handler may cancel while its thread holds the lock.
        lock = threading.RLock()
        self._arrived = threading.Condition(lock)
        # For `values`, which need not see each answer at once.
        self._many = threading.Condition(lock)
        self._tell: Callable[[], None] | None = None
        self._taken = 0
        self._submitted = 0
        self._sealed = False  # whether all units were submitted
        self._error: BaseException | None = None  # why no more units come, if it is an error
        self._enough: int | None = None  # the number of answers that makes room for more units
        self._room = threading.Event()
        self._found: dict[int, Any] = {}  # the values that `values` has so far, by position
        self._failure: SteelyardError | None = None  # the error that `values` has raised
        self._values: list[Any] | None = None

    def admit(self, count: int) -> bool:
        """Count so many more units, unless the job is sealed; return whether they are wanted.

        Whoever submits units calls this.
        """
        with self._arrived:
            if not self._sealed:
                self._submitted += count
            return not self._sealed

    def seal(self, error: BaseException | None = None) -> None:
        """Accept no more units, whatever the generator does. Only the first call's error counts."""
        with self._arrived:
            if self._sealed:
                return
            self.total, self._error, self._sealed = self._submitted, error, True
            self._make_room()
            self._arrived.notify_all()
            self._many.notify_all()
            tell = self._tell
        if tell is not None:
            tell()

    def wait_for_room(self, most: int) -> bool:
        """Wait until at most so many units have not ended; False if no more units are wanted."""
        with self._arrived:
            self._room.clear()
            self._enough = self._submitted - most
            self._make_room()
        self._room.wait()
        return not self._sealed

    def _make_room(self) -> None:
        if self._sealed or (self._enough is not None and self.done >= self._enough):
            self._enough = None
            self._room.set()

    def deliver(self, answers: Sequence[Answer]) -> None:
        """Take answers of units that have ended. The client calls this, with each answer once."""
        with self._arrived:
            self.done += len(answers)
            self.failed += sum(not answer.ok for answer in answers)
            self._answers += answers
            self._arrived.notify_all()
            if self._worth_a_look():
                self._many.notify_all()
            self._make_room()
            tell = self._tell
        if tell is not None:
            tell()

    def tell(self, arrived: Callable[[], None]) -> None:
        """Call `arrived`, from any thread, when an answer has come; and once now, for
        earlier ones.
        """
        with self._arrived:
            self._tell = arrived
        arrived()

    def next_now(self) -> Answer | None:
        """The next answer, if it is there."""
        with self._arrived:
            return self._take() if self._answers else None

    @property
    def over(self) -> bool:
        """Whether all answers have been taken. If an error ended the units too soon, it is
        raised.
        """
        with self._arrived:
            return self._over()

    def _over(self) -> bool:
        over = self._sealed and self._taken == self.total
        if over and self._error is not None:
            raise self._error
        return over

    def _take(self) -> Answer:
        self._taken += 1
        return self._answers.popleft()

    def as_completed(self, timeout: float | None = None) -> Iterator[Answer]:
        """Yield each answer once, as they come; `timeout` is in seconds, for all of them."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._arrived:
                left = None if end is None else max(0.0, end - time.monotonic())
                if not self._arrived.wait_for(lambda: self._answers or self._over(), left):
                    raise JobTimeoutError(f"timed out: {self.progress}")
                if not self._answers:
                    return
                answer = self._take()
            yield answer

    def __iter__(self) -> Iterator[Answer]:
        return self.as_completed()

    def values(self, timeout: float | None = None) -> list[Any]:
        """All values, in the order in which the units were submitted. The first failure is raised,
        and cancels the rest. After a timeout this can be called again.
        """
        if self._values is None:
            self._values = self._all_values(timeout)
        return self._values

    def _all_values(self, timeout: float | None) -> list[Any]:
        end = None if timeout is None else time.monotonic() + timeout
        if self._failure is not None:
            raise self._failure
        if self._taken != len(self._found):
            raise UsageError(
                "some answers of this job were taken already, one by one",
                hint="call values(), or iterate over the job; not both",
            )
        while not self.over:
            for answer in self._take_many(end):
                self._keep(answer)
        return [self._found[position] for position in range(len(self._found))]

    def _keep(self, answer: Answer) -> None:
        try:
            if answer.error is not None:
                raise answer.error
            self._found[answer.position] = unpack(answer.packed)
        except SteelyardError as error:
            self._failure = error
            self.cancel()
            raise

    def _take_many(self, end: float | None) -> Iterable[Answer]:
        """Wait until there are enough answers to wake up for, and take all of them."""
        with self._many:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._many.wait_for(self._worth_a_look, left):
                raise JobTimeoutError(f"timed out: {self.progress}")
            answers, self._answers = self._answers, deque()
            self._taken += len(answers)
        return answers

    def _worth_a_look(self) -> bool:
        enough = 1 if self.failed else MANY  # a failure may end the wait
        return self._ended() or len(self._answers) >= enough

    def _ended(self) -> bool:
        """Whether every unit has ended, and no more will come."""
        return self._sealed and self.done == self.total

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until every unit has ended; False if the time was over before."""
        with self._arrived:
            return self._arrived.wait_for(self._ended, timeout)

    def cancel(self) -> None:
        """End all units as CANCELLED that have not ended, and take no more from the generator."""
        self.seal()
        with self._arrived:
            ended = self._ended()
        if not ended:
            self._drop()

    @property
    def progress(self) -> Progress:
        """How far the job is."""
        seconds = time.monotonic() - self._began
        workers = self._workers()
        known = self.done and self.total is not None and (workers or self._ended())
        eta = seconds / self.done * (self.total - self.done) if known else None  # type: ignore[operator]
        return Progress(self.done, self.total, self.failed, workers, seconds, eta)
