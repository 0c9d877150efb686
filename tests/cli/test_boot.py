"""When `steelyard up` says that it serves."""

from __future__ import annotations

from steelyard.cli.boot import serves
from steelyard.core.status import BalancerStatus, FleetStatus, status
from tests.core.driver import Driver


def told(*versions: int) -> FleetStatus:
    """A fleet that is ready, and balancers that serve from these versions of its queue."""
    driver = Driver().booted()
    balancers = [
        BalancerStatus(name=f"b{n}", connected=True, version=version, inflight=0, waiting=0)
        for n, version in enumerate(versions)
    ]
    found = status(driver.fleet, driver.now)
    return found.model_copy(update={"queue_version": 3, "balancers": balancers})


def test_it_serves_when_every_balancer_has_the_queue_of_ready_workers():
    """Not before: such a balancer would answer 503."""
    assert serves(told(3, 3), 2)
    assert not serves(told(3), 2)
    assert not serves(told(3, 2), 2)


def test_it_does_not_serve_while_a_worker_boots():
    """However up to date the balancers are."""
    found = told(3, 3)
    assert not serves(found.model_copy(update={"target": found.ready + 1}), 2)
