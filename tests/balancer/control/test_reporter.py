"""Tests of how counters become reports."""

from __future__ import annotations

from pathlib import Path

from steelyard.balancer.control.reporter import Reporter
from tests.balancer.secure import tls_stage
from tests.balancer.stage import GET, Conn, always, stage, until


def test_a_report_tells_what_is_new() -> None:
    """A report counts what happened since the last report that was sent."""
    with stage(always()) as s, s.call() as client:
        reporter = Reporter("b1", s.plane.front, s.directory)
        for _ in range(3):
            client.send(GET)
            client.answer()
        until(lambda: s.total("requests") == 3)
        first = reporter.draft()
        traffic = first.report.workers["w0"]
        assert (traffic.requests, traffic.failures, traffic.inflight) == (3, 0, 0)
        assert traffic.bytes > 3 * len(GET)
        assert sum(traffic.histogram) == 3
        assert traffic.seconds > 0
        assert (first.report.epoch, first.report.version) == ("e", 1)

        client.send(GET)
        client.answer()
        until(lambda: s.total("requests") == 4)
        second = reporter.draft()
        assert second.report.workers["w0"].requests == 4
        reporter.sent(second)
        assert reporter.draft().report.workers["w0"].requests == 0
        assert reporter.draft(farewell=True).report.farewell


def test_refused_requests_are_reported_once() -> None:
    """A request that finds no worker is reported as refused, once."""
    with stage() as s:
        reporter = Reporter("b1", s.plane.front, s.directory)
        s.get()
        draft = reporter.draft()
        assert draft.report.refused == 1
        reporter.sent(draft)
        assert reporter.draft().report.refused == 0


def test_failed_handshakes_are_reported_once(tmp_path: Path) -> None:
    """A failed TLS handshake is reported once."""
    with tls_stage(tmp_path, always()) as s:
        reporter = Reporter("b1", s.plane.front, s.directory)
        with s.call() as client:
            client.send(b"\xff")
            client.ended()
        draft = reporter.draft()
        assert draft.report.unshaken == 1
        reporter.sent(draft)
        assert reporter.draft().report.unshaken == 0


def test_a_worker_that_left_is_reported_until_it_is_done() -> None:
    """A worker that a new agent does not know is reported until its exchanges end."""

    def play(conn: Conn) -> None:
        conn.request()
        assert conn.ended()

    with stage(play) as s:
        reporter = Reporter("b1", s.plane.front, s.directory)
        client = s.call()
        client.send(GET)
        until(lambda: s.inflight() == 1)
        s.queue(epoch="next")
        draft = reporter.draft()
        assert draft.report.workers["w0"].inflight == 1
        reporter.sent(draft)
        assert len(list(s.directory)) == 1
        client.reset()
        until(lambda: s.inflight() == 0)
        draft = reporter.draft()
        assert draft.report.workers["w0"].requests == 1
        reporter.sent(draft)
        assert list(s.directory) == []
        assert reporter.draft().report.workers == {}


def test_a_worker_that_moved_is_one_in_the_report() -> None:
    """Counts of a worker's old and new address are added up under its name."""
    with stage(always(), always()) as s:
        reporter = Reporter("b1", s.plane.front, s.directory)
        s.queue(s.workers[0].entry())
        s.get()
        s.queue(s.workers[1].entry().model_copy(update={"name": "w0"}))
        s.get()
        until(lambda: s.total("requests") == 2)
        assert reporter.draft().report.workers["w0"].requests == 2
