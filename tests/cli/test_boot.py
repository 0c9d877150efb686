"""The condition on which `steelyard up` says that it serves."""

from __future__ import annotations

import pytest

from steelyard.cli import boot
from steelyard.cli.boot import BootError, serves
from steelyard.cli.client import AgentClient
from steelyard.config.settings import Settings
from steelyard.core.status import BalancerStatus, FleetStatus, status
from tests.core.driver import Driver


def told(*versions: int) -> FleetStatus:
    """The status of a ready fleet, with balancers that serve from these versions of its queue."""
    driver = Driver().booted()
    balancers = [
        BalancerStatus(name=f"b{n}", connected=True, version=version, inflight=0, waiting=0)
        for n, version in enumerate(versions)
    ]
    found = status(driver.fleet, driver.now)
    return found.model_copy(update={"queue_version": 3, "balancers": balancers})


def test_it_serves_when_every_balancer_has_the_queue_of_ready_workers():
    """A balancer without the newest queue would answer 503."""
    assert serves(told(3, 3), 2)
    assert not serves(told(3), 2)
    assert not serves(told(3, 2), 2)


def test_it_does_not_serve_while_a_worker_boots():
    """While a worker boots, `up` does not serve, however up to date the balancers are."""
    found = told(3, 3)
    assert not serves(found.model_copy(update={"target": found.ready + 1}), 2)


async def test_a_boot_that_is_late_and_has_failed_is_given_up(tmp_path):
    """One failed start is enough once the boot time is over, and not enough before."""
    client = AgentClient.of(Settings(state=tmp_path))
    failing = {"ever_ready": False, "trouble": "it ended", "failures": 1, "culprit": "app-1"}
    found = told().model_copy(update=failing)
    await boot._give_up_if_hopeless(found, client, False)
    with pytest.raises(BootError, match="it ended"):
        await boot._give_up_if_hopeless(found, client, True)
