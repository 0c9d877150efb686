"""The tail bench: its workers, its arrivals and its summary."""

from __future__ import annotations

import asyncio
import random
from itertools import count

import pytest

from steelyard.bench.ports import accepts, answers, free_port
from steelyard.bench.tail.bench import RATES, Weights, _notes
from steelyard.bench.tail.client import LONGEST, Answer, arrivals, drive
from steelyard.bench.tail.contenders import contenders, our_policies
from steelyard.bench.tail.report import eta, sum_up, sum_up_round
from steelyard.bench.tail.workers import READY, Desk, serve


def test_eta_is_one_when_shares_follow_weights():
    """η is 0.5 when one worker got half of its share, and 0 when it got nothing."""
    assert eta([100, 50, 25, 5], [100, 50, 25, 5]) == 1
    assert eta([50, 50], [100, 50]) == 0.5
    assert eta([0, 50], [1, 1]) == 0
    assert eta([0, 0], [1, 1]) is None


def test_a_worker_serves_one_request_at_a_time():
    """A worker serves requests in order and at its rate, however many arrive at once."""
    desk = Desk(rate=50, rng=random.Random(1))
    ends = [desk.finish(now=0.0) for _ in range(5000)]
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(5000 / 50, rel=0.05)


def test_an_idle_worker_begins_at_once():
    """A worker that was idle begins a request at once."""
    desk = Desk(rate=1000, rng=random.Random(1))
    desk.finish(now=0.0)
    assert 100 < desk.finish(now=100.0) < 101


async def test_asking_whether_it_is_ready_uses_up_no_service():
    """Asking for readiness uses up no service time, so that every contender meets the same
    workers.
    """
    port = free_port()
    serving = asyncio.create_task(serve(1, [(port, 0.001)]))  # a service takes a quarter of an hour
    while not accepts(port):
        await asyncio.sleep(0.01)
    assert await asyncio.to_thread(answers, port, READY)
    serving.cancel()


def test_arrivals_are_seeded_and_have_the_rate():
    """A seed gives every contender of a round the same arrivals."""
    times = list(arrivals(126, 60, random.Random(3)))
    assert times == list(arrivals(126, 60, random.Random(3)))
    assert len(times) == pytest.approx(126 * 60, rel=0.05)


def test_rounds_become_lines():
    """A request without an answer has failed, and counts as the slowest: failing must not pay."""
    answers = [Answer(0.010, 0, 0.001), Answer(0.020, 1), Answer(0.030, 1), Answer(0.1, None)]
    rounds = [sum_up_round("ring", number, answers, [1, 2], 2.0, 0.0) for number in range(2)]
    (line,) = sum_up(rounds)
    assert (line.p50_ms, line.p99_ms, line.eta, line.errors) == (20, 1e3 * LONGEST, 1, 2)
    assert rounds[0].load == pytest.approx(4 / 2.0 / 3)
    assert rounds[0].late_ms == 1


def test_what_makes_figures_doubtful_is_said():
    """A noisy machine and a client that could not keep up are noted."""
    calm = sum_up_round("ring", 0, [Answer(0.01, 0)], [1], 1.0, 0.0)
    late = sum_up_round("ring", 1, [Answer(0.01, 0, 0.02)], [1], 1.0, 0.0)
    noisy = sum_up_round("ring", 2, [Answer(0.01, 0)], [1], 1.0, 0.5)
    assert _notes([calm]) == []
    assert "1 of 3 rounds were disturbed" in _notes([calm, late, noisy])[0]
    assert "late in 1 of 3 rounds" in _notes([calm, late, noisy])[1]


def test_nobody_is_told_the_rates_unless_asked():
    """All proxies are given equal weights, or all are given the true ones."""
    assert [Weights.EQUAL.of(rate) for rate in RATES] == [1, 1, 1, 1]
    assert [Weights.TRUE.of(rate) for rate in RATES] == [100, 50, 25, 5]


async def test_times_count_from_when_a_request_was_due():
    """A server that answers no request before all have come delays each of them, the first for the
    longest; a client that waits for its answers would not even get one.
    """
    due = list(arrivals(100, 0.3, random.Random(1)))
    asked, all_have = count(1), asyncio.Event()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if next(asked) == len(due):
            all_have.set()
        await all_have.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(play, "127.0.0.1", 0) as server:
        answers = await drive(server.sockets[0].getsockname()[1], 100, 0.3, random.Random(1))
    assert [answer.worker for answer in answers] == [0] * len(due)
    for when, answer in zip(due, answers, strict=True):
        assert answer.seconds >= due[-1] - when - 0.001  # the resolution of the clock


def test_our_policies_are_there_with_the_others():
    """Our policies are among the contenders, and no name is there twice."""
    names = [one.name for one in contenders()]
    assert our_policies()
    assert len(names) == len(set(names))
    assert names[-2:] == ["nginx random two least_conn", "HAProxy leastconn"]
