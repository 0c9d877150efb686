"""Workers that come and go, with one waiting line in front."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.lab.crew import Crew, Hand
from steelyard.lab.theory import erlang_c


def crew(hands: int, slo: float = 10.0, patience: float = 10.0) -> tuple[Crew, list[Hand]]:
    made, ring = Crew(slo, patience), [Hand(f"w{number}") for number in range(hands)]
    made.take_on(ring, 0.0)
    return made, ring


def test_first_come_first_served():
    """The worker that is free first takes the next request; requests that cannot start wait."""
    one, hands = crew(2)
    one.serve([(0.0, 3.0), (0.0, 1.0), (0.5, 1.0), (0.6, 1.0)], 2.0)
    assert [hand.free_at for hand in hands] == [3.0, 2.0]
    assert one.line == [(0.6, 1.0)]
    assert one.wait(2.0) == pytest.approx(1.4)
    assert [hand.worked(2.0) for hand in hands] == [2.0, 2.0]
    one.serve([], 4.0)
    assert [hand.free_at for hand in hands] == [3.0, 3.0]


def test_a_new_hand_takes_over_from_the_line():
    """A waiting request is not bound to a worker."""
    one, hands = crew(1)
    one.serve([(0.0, 9.0), (0.1, 1.0)], 2.0)
    late = Hand("late")
    one.take_on([*hands, late], 2.0)
    one.serve([], 4.0)
    assert (late.free_at, late.taken, one.line) == (3.0, 1, [])


def test_one_that_left_finishes_what_it_has():
    """A worker that left finishes its request, and gets no new one."""
    one, (first, second) = crew(2)
    one.serve([(0.0, 5.0), (0.0, 5.0)], 1.0)
    one.take_on([first], 1.0)
    one.serve([(1.0, 1.0)], 9.0)
    assert (first.taken, second.taken, second.free_at) == (2, 1, 5.0)


@pytest.mark.parametrize("hands", [0, 1])
def test_patience_ends(hands):
    """A request that waits too long fails, with or without workers; one over the SLO is late."""
    one, _ = crew(hands, slo=2.0, patience=3.0)
    one.serve([(0.0, 2.5), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)], 9.0)
    assert (one.tally.came, one.tally.failed, one.tally.late) == (4, 2 if hands else 4, 2 * hands)
    assert one.tally.bad == 1.0


def test_waits_are_those_of_erlang():
    """In M/M/4 at 70 %, the share of requests over a mean service time is within 2 % of theory."""
    rng, servers, load, requests = np.random.default_rng(1), 4, 0.7, 150_000
    came = np.cumsum(rng.exponential(1 / (servers * load), requests))
    works = rng.exponential(1.0, requests)
    one, _ = crew(servers, slo=1.0, patience=1e9)
    one.serve(list(zip(came.tolist(), works.tolist(), strict=True)), float(came[-1]))
    assert one.tally.late / requests == pytest.approx(_late(load, servers, 1.0), rel=0.02)


def _late(load: float, servers: int, slo: float) -> float:
    """P(wait + service > slo) of M/M/c at rate 1, by integrating over the service."""
    waits = erlang_c(load, servers)
    rate = servers * (1 - load)
    times = np.linspace(0, slo, 20_001)
    over = waits * np.exp(-rate * (slo - times)) * np.exp(-times)
    return float(np.exp(-slo) + np.sum((over[1:] + over[:-1]) / 2) * (times[1] - times[0]))
