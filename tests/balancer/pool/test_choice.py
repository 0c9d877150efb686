"""Tests of which worker gets a request, on real sockets."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from functools import partial
from time import monotonic
from typing import get_args

import pytest

from steelyard.balancer.pool.latency import ESTIMATORS
from steelyard.config.settings import Policy
from steelyard.select import KEYED, POLICIES
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, always, stage, until

NAMES = get_args(Policy)


def test_every_policy_can_be_configured() -> None:
    """The policies in the settings are exactly those of the selectors."""
    assert set(NAMES) == {*POLICIES, *KEYED}
    assert set(ESTIMATORS) < set(NAMES)


@pytest.mark.parametrize("policy", NAMES)
def test_every_policy_serves(policy: str) -> None:
    """Each policy serves requests when a worker refuses connections and when the fleet changes."""
    with stage(always(), always(), always(), policy=policy) as s:
        s.workers[0].refuse()
        assert {s.get().status for _ in range(12)} == {200}
        s.queue(s.workers[1].entry())
        assert s.get().status == 200
        s.queue()
        assert s.get().status == 503


def test_a_client_stays_with_its_worker_by_hash() -> None:
    """With `consistent_hash` the key is the client's address, so one worker gets all requests."""
    with stage(always(), always(), always(), policy="consistent_hash") as s:
        for _ in range(12):
            s.get()
        assert Counter(len(worker.seen) for worker in s.workers) == {0: 2, 12: 1}


@pytest.mark.parametrize("policy", sorted(ESTIMATORS))
def test_workers_are_measured(policy: str) -> None:
    """After one answer from each worker the slow worker costs more than the fast worker."""
    go = threading.Event()

    def slow(conn: Conn) -> None:
        while True:
            conn.request()
            assert go.wait(PATIENCE)
            conn.send(OK)

    with stage(slow, always(), policy=policy) as s, contextlib.ExitStack() as clients:
        while not (s.workers[0].seen and s.workers[1].seen):
            served = len(s.workers[0].seen) + len(s.workers[1].seen)
            clients.enter_context(s.call()).send(GET)
            until(partial(more_seen, s, served))
        until(lambda: s.inflight() == len(s.workers[0].seen))
        since = monotonic()
        fast = cost(s, "w1")
        # On a busy machine even the fast worker is slow: the slow worker has to take longer still.
        until(lambda: monotonic() - since > 2 * fast)
        go.set()
        until(lambda: s.inflight() == 0)
        assert cost(s, "w0") > fast > 0


def cost(s: Stage, name: str) -> float:
    """The estimated cost of a worker."""
    return {worker.name: worker.tally.cost for worker in s.directory}[name]


def more_seen(s: Stage, than: int) -> bool:
    return sum(len(worker.seen) for worker in s.workers) > than


def test_the_first_answer_stands_for_all() -> None:
    """A worker that has not answered gets the cost of the others, and not the lowest cost."""
    with stage(always(), always(), policy="shortest_wait") as s:
        s.get()
        until(lambda: s.total("requests") == 1)
        assert len({worker.tally.cost for worker in s.directory} - {0.0}) == 1
        assert all(worker.tally.cost for worker in s.directory)


def test_fast_failures_are_no_measure() -> None:
    """A fast 503 is no measurement, so that a failing worker does not look like the fastest."""
    bad = always(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
    with stage(bad) as s:
        assert s.get().status == 503
        until(lambda: s.total("requests") == 1)
        (worker,) = s.directory
        assert worker.tally.cost == 0
        assert sum(worker.tally.histogram) == 1


def test_nobody_is_measured_when_nobody_asks() -> None:
    """A policy that does not use costs does not measure them."""
    with stage(always(), policy="weighted_ring") as s:
        s.get()
        until(lambda: s.total("requests") == 1)
        (worker,) = s.directory
        assert worker.tally.cost == 0
