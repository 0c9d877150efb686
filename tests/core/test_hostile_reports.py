"""The fleet must survive every report that fits the model, even if its content is nonsense."""

from __future__ import annotations

from math import isfinite

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.core import events as ev
from steelyard.core.availability import Memory
from steelyard.core.bounds import LONGEST, MOST
from steelyard.core.meter import Rating
from steelyard.core.report import BOUNDS, Report, Traffic
from steelyard.core.status import status
from tests.core.driver import MACHINE, Driver
from tests.core.test_fleet_laws import POLICIES

COUNTS = st.one_of(st.sampled_from([0, 1, MOST]), st.integers(0, MOST))
SECONDS = st.one_of(st.sampled_from([0.0, 5e-324, 1e-300, LONGEST]), st.floats(0, LONGEST))
BUCKETS = len(BOUNDS) + 1
TRAFFIC = st.builds(
    Traffic,
    inflight=COUNTS,
    requests=COUNTS,
    failures=COUNTS,
    bytes=COUNTS,
    seconds=SECONDS,
    histogram=st.one_of(
        st.just((1, *(0,) * (BUCKETS - 1))),
        st.lists(COUNTS, min_size=BUCKETS, max_size=BUCKETS).map(tuple),
    ),
)
REPORTS = st.builds(
    Report,
    balancer=st.sampled_from(["b1", "b2"]),
    epoch=st.sampled_from(["", "e", "another"]),
    version=st.one_of(st.sampled_from([-1, MOST]), st.integers(-1, MOST)),
    workers=st.dictionaries(st.sampled_from(["w1", "w2", "never-was"]), TRAFFIC),
    waiting=COUNTS,
    wait_seconds=SECONDS,
    refused=COUNTS,
    unshaken=COUNTS,
    farewell=st.booleans(),
)


@settings(max_examples=100, deadline=None)
@given(
    policy=st.sampled_from(sorted(POLICIES)),
    history=st.sampled_from([1, 20]),
    reports=st.lists(REPORTS, max_size=12),
)
def test_no_report_that_is_read_makes_the_fleet_raise(policy, history, reports):
    """After any series of reports scores stay within 0…100, and there is a status."""
    rating = Rating(MACHINE, memory=Memory(history=history))
    driver = Driver(POLICIES[policy](), rating=rating).booted()
    for report in reports:
        driver.tell(ev.Reported(report))
        driver.tick(load=50.0)
        for worker in status(driver.fleet, driver.now).workers:
            assert 0 <= worker.score <= 100
            assert worker.network is None or isfinite(worker.network)


def test_exchanges_with_a_worker_that_never_was_do_not_count():
    """Otherwise a policy that follows open exchanges would start workers for them."""
    driver = Driver().booted()
    driver.report("b1", **{"w1": 2, "never-was": 50}, done=3)
    assert driver.fleet.links.open() == 2
    assert driver.fleet.links.completed == 3
