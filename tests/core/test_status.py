"""The status that people see."""

from __future__ import annotations

from steelyard.core.status import BalancerStatus, FleetStatus, status
from tests.core.driver import Driver


def test_the_status_tells_workers_decisions_and_balancers():
    """The status lists workers, decisions and balancers, and survives JSON."""
    d = Driver().booted()
    d.report("b1", w1=3)
    d.ticks(2, load=100)
    told = status(d.fleet, d.now)
    assert [(w.name, w.state, w.default, w.inflight) for w in told.workers[:2]] == [
        ("w1", "HU", True, 3),
        ("w2", "HU", True, 0),
    ]
    assert told.workers[0].cpu == 100
    assert (told.balancers[0].name, told.balancers[0].connected) == ("b1", True)
    assert told.decisions[0].action == "start"
    assert told.ready == 2
    assert FleetStatus.model_validate_json(told.model_dump_json()) == told


def test_a_queue_is_known_when_every_connected_balancer_has_reported_it():
    """A balancer that serves from an older queue may not know a worker that is ready."""
    d = Driver().booted()
    version = d.fleet.publication.queue.version
    assert not status(d.fleet, d.now).known, "there is no balancer"
    told = status(d.fleet, d.now)
    current = BalancerStatus(name="a", connected=True, version=version, inflight=0, waiting=0)
    late = current.model_copy(update={"name": "b", "version": version - 1})
    lost = late.model_copy(update={"connected": False})

    def known(*balancers: BalancerStatus) -> bool:
        return told.model_copy(update={"balancers": list(balancers)}).known

    assert known(current)
    assert known(current, lost)
    assert not known(current, late)
