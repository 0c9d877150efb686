"""The workers needed, and how far off a run is."""

from __future__ import annotations

import pytest

from steelyard.lab.demand import Demand, Fit, speed_up, staff
from steelyard.lab.site import Site
from steelyard.lab.trace import Trace

SITE = Site(min=2, max=50, boot=15, service=0.2, slo=2.0)


def test_the_fewest_that_keep_waits_short():
    """More workers are needed than the load, but relatively fewer for larger loads."""
    spare = [staff(load, 0.2, 1.0) - load for load in (1.0, 10.0, 100.0)]
    assert spare == [2.0, 2.0, 2.0]
    assert staff(10.0, 0.2, 0.1) > 12


def test_a_plan_is_as_early_as_a_boot():
    """The oracle has workers ready when an interval begins, and releases them when it ends."""
    demand = Demand(Trace("t", [0, 100, 200, 300], [500, 5000, 500]), SITE)
    small, great = demand.at(2.0), demand.at(102.0)
    assert (small, great) == (3, 12)
    assert [demand.plan(now) for now in (78.0, 82.0, 198.0, 200.0)] == [3, 12, 12, 3]
    assert [demand.at(now) for now in (100.0, 102.0, 200.0, 202.0)] == [3, 12, 12, 3]
    assert demand.mean == pytest.approx((3 + 12 + 3) / 3)


def test_theta_and_tau():
    """In one tick of four half of the workers are missing, in two there are half too many."""
    fit = Fit()
    for ready in (2, 4, 6, 6):
        fit.note(ready, 4)
    assert fit.measures == (12.5, 25.0, 25.0, 50.0)


def test_speed_up_is_a_geometric_mean():
    """The speed-up is the mean of four ratios; a measure near 0 counts as a tenth of a percent."""
    fixed, half, perfect = Fit(100, 20, 20, 50, 50), Fit(100, 10, 10, 25, 25), Fit(100)
    assert speed_up(fixed, fixed) == 1.0
    assert speed_up(half, fixed) == pytest.approx(2.0)
    assert speed_up(perfect, fixed) == pytest.approx((200 * 200 * 500 * 500) ** 0.25)
