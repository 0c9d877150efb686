"""Tests of how counters become an account."""

from __future__ import annotations

from steelyard.balancer.control.account import draw_up
from steelyard.core.account import Work
from tests.balancer.stage import GET, OK, Conn, Stage, always, stage, until

NO = b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"


def only(s: Stage) -> Work:
    (work,) = draw_up(s.plane.front, s.directory).workers
    return work


def test_answers_are_counted_by_class() -> None:
    """Answers are counted by class of status, each with its time, and bytes by direction."""
    play = iter([OK, OK, NO])

    def worker(conn: Conn) -> None:
        while True:
            conn.request()
            conn.send(next(play))

    with stage(worker) as s:
        for status in (200, 200, 503):
            assert s.get().status == status
        until(lambda: s.total("requests") == 3)
        work = only(s)
        assert (work.name, work.place) == ("w0", f"127.0.0.1:{s.worker.port}")
        assert (work.done.statuses[2], work.done.statuses[5]) == (2, 1)
        assert sum(work.done.histogram) == sum(work.done.statuses) == 3
        assert work.done.sent == len(s.worker.bytes)
        assert work.done.received == len(OK + OK + NO)
        assert work.done.seconds > 0


def test_what_is_open_is_told() -> None:
    """The account counts open exchanges with workers and open connections of clients."""

    def silent(conn: Conn) -> None:
        conn.request()
        conn.rest()

    with stage(silent) as s, s.call() as client:
        client.send(GET)
        until(lambda: bool(s.worker.seen))
        account = draw_up(s.plane.front, s.directory)
        assert (account.connections, account.workers[0].inflight, account.version) == (1, 1, 1)


def test_answers_of_our_own_are_counted_by_status() -> None:
    """The balancer's own answers are counted by status."""
    with stage() as s:
        s.get()
        s.get()
        s.get(b"GET nowhere HTTP/1.1\r\n\r\n")
        own = draw_up(s.plane.front, s.directory).own
        assert own.answers == {400: 1, 503: 2}
        assert own.refused == 2
        assert own.cpu > 0


def test_retries_and_ejections_are_counted() -> None:
    """A worker that refuses connections causes one retry, and then it is ejected."""
    with stage(always(), always(), eject_after=1, eject_first=60) as s:
        s.workers[0].refuse()
        for _ in range(12):
            assert s.get().status == 200
        account = draw_up(s.plane.front, s.directory)
        bad, good = sorted(account.workers, key=lambda work: work.name)
        assert (bad.done.ejections, bad.ejected) == (1, True)
        assert (good.done.ejections, good.ejected) == (0, False)
        assert bad.done.failures == account.own.retries == 1


def test_those_in_line_are_told() -> None:
    """The account counts requests that wait for a worker."""

    def silent(conn: Conn) -> None:
        conn.request()
        conn.rest()

    with stage(silent, worker_concurrency=1) as s, s.call() as first, s.call() as second:
        first.send(GET)
        until(lambda: bool(s.worker.seen))
        second.send(GET)
        until(lambda: draw_up(s.plane.front, s.directory).waiting == 1)
