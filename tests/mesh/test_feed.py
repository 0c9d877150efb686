"""Units that are packed as they are needed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import pytest

from steelyard import mesh
from steelyard.errors import UsageError
from steelyard.mesh import feed
from steelyard.mesh.execution.wire import WireError
from steelyard.mesh.job import Job
from steelyard.mesh.sinks import Lot
from tests.mesh import jobs
from tests.mesh.conftest import PATIENCE
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that a small job behaves like a large one."""
    monkeypatch.setattr(feed, "AHEAD", 32)
    monkeypatch.setattr(feed, "TOGETHER", 8)


class Counted:
    """A generator that counts the items taken from it."""

    def __init__(self, count: int) -> None:
        self.taken = 0
        self._count = count

    def __iter__(self) -> Iterator[int]:
        for number in range(self._count):
            self.taken += 1
            yield number


class Shrunk(list[int]):
    """A list whose length was greater when the job began."""

    def __len__(self) -> int:
        return 200


def test_a_generator_is_never_far_ahead_of_the_answers(client: mesh.Client) -> None:
    """A generator is at most some units ahead, and its length is known when it has ended."""
    numbers = Counted(1000)
    job = client.map(jobs.double, numbers)
    assert job.total is None
    found, most = [], 0
    for answer in job.as_completed(PATIENCE):
        most = max(most, numbers.taken - job.done)
        found.append(answer.value)
    assert sorted(found) == list(range(0, 2000, 2))
    assert most <= 32 + 2 * 8  # the last answers may have been counted a moment later
    assert (job.total, job.progress.total) == (1000, 1000)


def test_a_slow_generator_holds_nothing_up(client: mesh.Client) -> None:
    """Each unit of a slow generator is sent as soon as it is there."""
    answered = threading.Event()

    def items() -> Iterator[int]:
        for number in range(3):
            yield number
            assert answered.wait(PATIENCE)
            answered.clear()

    found = []
    for answer in client.map(jobs.double, items()).as_completed(PATIENCE):
        found.append(answer.value)
        answered.set()
    assert found == [0, 2, 4]


def test_a_unit_that_cannot_be_sent_is_named(client: mesh.Client) -> None:
    """The error for a list names the unit before anything is sent."""
    with pytest.raises(WireError, match="unit 3 cannot be sent"):
        client.map(jobs.double, [1, 2, {3}, 4])


@pytest.mark.parametrize("end", ["cancel", "close", "within"])
def test_a_job_does_not_wait_for_its_generator_to_end(client: mesh.Client, end: str) -> None:
    """A job can end while its generator waits, and later items are ignored."""
    begun, go_on, over = threading.Event(), threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        yield 1
        begun.set()
        assert go_on.wait(PATIENCE)
        yield 2
        over.set()

    job = client.map(jobs.double, items(), within=2.0 if end == "within" else None)
    assert begun.wait(PATIENCE)
    answers = job.as_completed(PATIENCE)
    assert next(answers).value == 2
    if end == "cancel":
        job.cancel()
    elif end == "close":
        client.close()
    if end == "close":
        with pytest.raises(UsageError, match="closed"):
            next(answers)
    assert list(answers) == []
    go_on.set()
    wait_until(lambda: not any("feed" in one.name for one in threading.enumerate()), PATIENCE)
    assert not over.is_set()
    assert (job.done, job.total) == (1, 1)


def test_a_generator_without_an_end_has_one_in_time(client: mesh.Client) -> None:
    """An endless generator ends with the job's time, and the units made before are answered."""
    job = client.map(jobs.double, itertools.count(), within=0.3)
    answers = list(job.as_completed(PATIENCE))
    assert len({answer.key for answer in answers}) == len(answers) == job.total


def test_a_generator_waits_while_no_unit_ends(client: mesh.Client) -> None:
    """A generator is not asked for more while no unit ends; cancelling the job answers its
    units.
    """
    seconds = Counted(10_000)
    job = client.starmap(jobs.snooze, ((3600.0,) for _ in seconds))
    assert str(job.progress) == "0 units, 4 workers"
    wait_until(lambda: seconds.taken > 32 - 8, PATIENCE)  # there is no room for another lot
    job.cancel()
    answers = list(job.as_completed(PATIENCE))
    assert len(answers) == job.total <= 32
    assert seconds.taken <= job.total + 1  # one more item may have been about to be sent
    assert not any(answer.ok for answer in answers)


def test_large_units_are_packed_less_far_ahead(
    client: mesh.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large units are limited by their bytes, but a single one may be larger than that."""
    monkeypatch.setattr(feed, "BULK", 50_000)
    numbers = Counted(100)
    job = client.map(jobs.speak, ("x" * 10_000 for _ in numbers))
    most = max(numbers.taken - job.done for _ in job.as_completed(PATIENCE))
    assert most <= 5 + 2
    assert (numbers.taken, job.total) == (100, 100)
    huge = client.map(jobs.speak, (text for text in ["x" * 60_000] * 3))
    assert len(list(huge.as_completed(PATIENCE))) == 3


def test_of_a_list_of_large_units_not_all_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Submitting a list packs no more bytes than memory has room for."""
    monkeypatch.setattr(feed, "BULK", 50_000)
    job, sent = Job(100, lambda: 1, lambda: None), Lot()

    def send(lot: Lot) -> None:
        assert job.admit(len(lot))
        sent.extend(lot)

    feed.Feed(job, [("x" * 10_000,)] * 100, None, send).start()
    assert len(sent) == 5
    job.seal()


def test_the_length_of_a_list_is_known_at_once(client: mesh.Client) -> None:
    """The length of a list is known although its units are packed later, and values are in
    order.
    """
    job = client.map(jobs.add, range(200), range(300))
    assert job.total == 200
    assert job.values(PATIENCE) == list(range(0, 400, 2))


@pytest.mark.parametrize(
    ("items", "keys", "error"),
    [
        ((1 / (100 - n) for n in range(200)), None, ZeroDivisionError),
        (({1} if n == 100 else n for n in range(200)), None, WireError),
        (range(200), iter(range(100)), UsageError),
        (Shrunk(range(100)), None, UsageError),
    ],
    ids=[
        "a generator that fails",
        "a unit that cannot be sent",
        "too few keys",
        "a list that shrinks",
    ],
)
def test_what_ends_the_units_too_soon_is_raised_after_the_answers(
    client: mesh.Client, items: object, keys: object, error: type[Exception]
) -> None:
    """An error in the items is raised after the answers of the units before it."""
    job = client.map(jobs.double, items, keys=keys)  # type: ignore[arg-type]
    found = []
    with pytest.raises(error):
        found.extend(job.as_completed(PATIENCE))
    assert len(found) == 100


def test_closing_a_client_ends_a_job_that_has_more_units(client: mesh.Client) -> None:
    """Closing a client ends the wait for a job with more units."""
    job = client.map(jobs.snooze, (3600.0 for _ in range(10_000)))
    told: list[BaseException] = []

    def take() -> None:
        try:
            list(job)
        except UsageError as error:
            told.append(error)

    taking = threading.Thread(target=take)
    taking.start()
    client.close()
    taking.join(PATIENCE)
    wait_until(lambda: "closed" in str(told), PATIENCE)
