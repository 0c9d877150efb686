"""One job on real processes, of which one is killed."""

from __future__ import annotations

import pytest

from steelyard.bench.jobs.order import Order
from steelyard.bench.jobs.pulled import pulled
from steelyard.bench.jobs.pushed import pushed

# Both nodes have a unit at once; the second node is killed in the middle of its long unit.
ORDER = Order(works=[1.0] * 4, speeds=[2.0, 0.2], deaths={1: 0.5})


@pytest.mark.parametrize("how", ["pushed", "pulled"])
def test_a_killed_node_costs_time_and_no_unit(how, tmp_path):
    """The half-done unit of the killed node is lost, and done again by the other."""
    if how == "pulled":
        told = pulled(ORDER, tmp_path)
    else:
        told = pushed(ORDER, "least_in_flight", 2, True, tmp_path)
    assert told.delivered == 4
    assert told.makespan > 2.0
    assert 0.0 < told.lost <= 1.0
    assert 0.0 < told.used <= 1.1
    assert told.messages >= (2 if how == "pulled" else 4 * 4 + 2)
