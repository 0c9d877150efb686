"""The fewest requests that must wait too long."""

from __future__ import annotations

import pytest

from steelyard.core.scaling.fixed import Fixed
from steelyard.lab.arrivals import arrivals
from steelyard.lab.frontier import Waits, fewest_late
from steelyard.lab.outline import Outline
from steelyard.lab.site import Site
from steelyard.lab.trace import Trace

SITE = Site()


def simulated(load: float, workers: int, requests: int) -> int:
    """The number of requests that are late by waiting, at a steady load."""
    seconds = requests * SITE.service / load
    run = Outline(SITE, Fixed())
    run.open(workers)
    steady = Trace("steady", [0, seconds], [requests])
    for now, came in arrivals(steady, SITE.tick, SITE.service, SITE.spread, seed=1):
        run.crew.serve(came, now)
    return run.crew.tally.waited


@pytest.mark.parametrize(("load", "workers", "requests"), [(2.0, 3, 200_000), (2.2, 4, 1_000_000)])
def test_theory_is_near_the_simulation(load, workers, requests):
    """Theory and simulation agree within 40 %; few requests are late, so chance is a part
    of that.
    """
    late = simulated(load, workers, requests)
    assert late > 30
    assert requests * Waits(SITE).late(load, workers) == pytest.approx(late, rel=0.4)


def test_workers_go_where_they_help_most():
    """The best allocation is no worse than a constant one, and more workers give fewer late
    requests.
    """
    trace = Trace("two", [0, 1000, 2000], [5_000, 50_000])  # loads of 1 and 10
    waits = Waits(SITE)
    even = 5_000 * waits.late(1.0, 12) + 50_000 * waits.late(10.0, 12)
    spent = [fewest_late(trace, SITE, workers * 2000) for workers in (9, 12, 14)]
    assert spent[1] < even
    assert spent == sorted(spent, reverse=True)
    assert spent[2] < spent[0] / 10


def test_what_is_long_in_itself_does_not_count():
    """With enough workers no request is late by waiting."""
    assert Waits(SITE).late(1.0, 30) < 1e-12
    assert Waits(SITE).late(3.0, 3) == 1.0
