"""Tests of which workers are ejected, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.pool.ejection import Ejector, Record
from tests.balancer.stage import Conn, always, once, stage, until


def ejector(*records: Record, after: int | None = 3) -> Ejector:
    made = Ejector(after, 1.0, 60.0)
    made.fleet(records)
    return made


def strike(made: Ejector, record: Record, now: float, times: int = 3) -> list[bool]:
    return [made.failed(record, now) for _ in range(times)]


def test_three_in_a_row() -> None:
    """The third failure in a row ejects a worker; a success in between resets the count."""
    bad, good = Record(), Record()
    made = ejector(bad, good)
    assert strike(made, bad, 0.0, 2) == [False, False]
    made.succeeded(bad)
    assert strike(made, bad, 0.0) == [False, False, True]
    assert not made.admits(bad, 0.99)
    assert made.admits(good, 0.99)
    assert repr(bad) == "Record(3 strikes, out)"


def test_backoff_doubles_up_to_the_longest() -> None:
    """Each failed trial doubles the back-off, up to a minute, and a success resets it."""
    bad = Record()
    made = ejector(bad, Record())
    strike(made, bad, 0.0)
    waits, now = [bad.backoff], 0.0
    for _ in range(8):
        now = bad.until
        assert made.admits(bad, now)
        assert made.failed(bad, now)
        waits.append(bad.until - now)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    made.admits(bad, bad.until)
    made.succeeded(bad)
    assert made.admits(bad, now)
    assert strike(made, bad, now) == [False, False, True]
    assert bad.backoff == 1.0


def test_one_trial() -> None:
    """After the back-off one request is let through, and no other before its outcome is known."""
    bad = Record()
    made = ejector(bad, Record())
    strike(made, bad, 0.0)
    assert [made.admits(bad, 1.0) for _ in range(3)] == [True, False, False]


def test_a_trial_without_a_verdict_is_repeated() -> None:
    """When a trial has no outcome, since its client left, another request is let through."""
    bad = Record()
    made = ejector(bad, Record())
    strike(made, bad, 0.0)
    assert made.admits(bad, 1.0)
    assert not made.admits(bad, 1.9)
    assert made.admits(bad, 2.0)


def test_stragglers_do_not_prolong() -> None:
    """Requests that were under way at the ejection do not prolong the back-off when they fail."""
    bad = Record()
    made = ejector(bad, Record())
    assert strike(made, bad, 0.0, 9) == [False, False, True, *[False] * 6]
    assert bad.until == 1.0


@pytest.mark.parametrize(("fleet", "out"), [(1, 0), (2, 1), (3, 1), (4, 2), (9, 4)])
def test_never_more_than_half(fleet: int, out: int) -> None:
    """At most half of the fleet is ejected, however many workers fail."""
    records = [Record() for _ in range(fleet)]
    made = ejector(*records)
    for record in records:
        strike(made, record, 0.0, 10)
    assert sum(not made.admits(record, 0.5) for record in records) == out


def test_a_smaller_fleet_takes_some_back() -> None:
    """When the fleet shrinks, ejected workers return, first the worker with the earliest return."""
    records = [Record() for _ in range(4)]
    made = ejector(*records)
    strike(made, records[0], 0.0)
    strike(made, records[1], 0.5)
    made.fleet(records[:2])
    assert (records[0].until, records[1].until) == (0.0, 1.5)
    made.fleet(records[1:2])
    assert made.admits(records[1], 0.6)


def test_never() -> None:
    """With `after=None` no worker is ever ejected."""
    bad = Record()
    assert not any(strike(ejector(bad, Record(), after=None), bad, 0.0, 50))


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("fsa")), max_size=200))
def test_at_least_half_is_always_there(events: list[tuple[int, str]]) -> None:
    """At least half of the fleet is not ejected, whatever happens in whatever order."""
    records = [Record() for _ in range(6)]
    made = ejector(*records)
    for now, (index, event) in enumerate(events):
        if event == "f":
            made.failed(records[index], now / 4)
        elif event == "s":
            made.succeeded(records[index])
        else:
            made.admits(records[index], now / 4)
        assert sum(record.until == 0.0 for record in records) >= 3
        assert all((record.strikes > 0) or not record.until for record in records)


# Tests on real sockets


def drop(conn: Conn) -> None:
    """A worker that reads a request and closes without an answer."""
    conn.request()


@pytest.mark.parametrize("policy", ["weighted_ring", "round_robin", "least_in_flight"])
def test_a_failing_worker_is_left_alone(policy: str) -> None:
    """A failing worker gets three requests, then no more, and so causes no more retries."""
    with stage(drop, always(), policy=policy, eject_first=60) as s:
        assert {s.get().status for _ in range(30)} == {200}
        assert len(s.workers[0].seen) == 3
        assert s.total("failures") == 3


def test_a_worker_that_recovers_is_found_by_one_trial() -> None:
    """The balancer finds out by itself, without an agent, that a worker has recovered."""
    with stage(drop, always(), policy="weighted_ring", eject_first=0.05) as s:
        until(lambda: s.get().status == 200 and len(s.workers[0].seen) >= 3)
        s.workers[0].play = always()
        seen = len(s.workers[0].seen)
        until(lambda: s.get().status == 200 and len(s.workers[0].seen) > seen + 3)
        assert not any(worker.record.strikes for worker in s.directory)


def test_the_last_worker_is_never_left_alone() -> None:
    """The only worker is not ejected, though it fails: a failing worker is better than none."""
    with stage(drop) as s:
        for number in range(1, 10):
            assert s.get().status == 502
            assert len(s.worker.seen) == number


def test_who_is_ejected_is_no_first_choice() -> None:
    """A policy does not choose an ejected worker until its back-off is over."""
    with stage(drop, always(), policy="least_in_flight", eject_first=60) as s:
        until(lambda: s.get().status == 200 and len(s.workers[0].seen) >= 3)
        (bad,) = (worker for worker in s.directory if worker.record.until)
        table = s.directory.tend(bad.record.until - 1)
        assert table is not None
        assert table.choice is not None
        assert {table.choice.pick().worker.name for _ in range(9)} == {"w1"}
        assert s.directory.tend(bad.record.until - 1) is None
        table = s.directory.tend(bad.record.until)
        assert table is not None
        assert table.choice is not None
        assert "w0" in {table.choice.pick().worker.name for _ in range(9)}


def test_dead_idle_connections_are_no_strikes() -> None:
    """A worker that was restarted lost its idle connections, which is no reason to eject it."""

    def close_second(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        conn.request()
        conn.reset()

    with stage(close_second, close_second, eject_after=1) as s, s.call() as client:
        for _ in range(12):
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.answer().status == 200
        assert s.total("failures") > 0
        assert not any(worker.record.strikes for worker in s.directory)


@pytest.mark.parametrize(
    "answer", [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"]
)
def test_malformed_and_cut_answers_are_failures(answer: bytes) -> None:
    """A malformed answer and a cut answer are failures that eject a worker."""
    with stage(once(answer), once(answer), eject_after=1, eject_first=60) as s:
        for _ in range(2):
            with s.call() as client:
                client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                client.rest()
        assert sum(worker.record.until > 0 for worker in s.directory) == 1
