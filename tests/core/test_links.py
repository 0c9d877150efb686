"""Links: which balancer has which exchanges open."""

from __future__ import annotations

from steelyard.core.links import Links
from steelyard.core.report import Report, Traffic


def report(balancer: str, version: int, epoch: str = "e", **inflight: int) -> Report:
    workers = {
        name: Traffic(inflight=n, requests=0, failures=0, bytes=0, seconds=0)
        for name, n in inflight.items()
    }
    return Report(balancer=balancer, epoch=epoch, version=version, workers=workers)


def test_open_exchanges_are_summed_over_balancers():
    """C(t) of a worker is the sum of its open exchanges at all balancers."""
    links = Links("e")
    links.report(report("b1", 1, w=2))
    links.report(report("b2", 1, w=3, v=1))
    assert (links.open_exchanges("w"), links.open_exchanges("v")) == (5, 1)


def test_a_worker_is_released_when_all_have_seen_the_queue_and_hold_nothing():
    """A worker is not released while one balancer has an old queue or an open exchange."""
    links = Links("e")
    links.report(report("b1", 5))
    links.report(report("b2", 4))
    assert not links.released("w", 5)
    links.report(report("b2", 5, w=1))
    assert not links.released("w", 5)
    links.report(report("b2", 5))
    assert links.released("w", 5)


def test_a_version_of_an_earlier_agent_counts_as_none():
    """Versions of another epoch do not count, because each agent counts from 0."""
    links = Links("e")
    links.report(report("b1", 99, epoch="before"))
    assert not links.released("w", 0)


def test_a_balancer_that_has_only_joined_may_hold_anything():
    """No worker is released before the first report of a new balancer."""
    links = Links("e")
    links.join("b1")
    assert not links.released("w", 0)


def test_a_lost_balancer_is_forgotten_after_a_while_unless_it_comes_back():
    """The exchanges of a lost balancer count for as long as it may still be serving."""
    links = Links("e", patience=10)
    links.report(report("b1", 1, w=1))
    links.lose("b1", now=0)
    links.expire(now=9)
    assert links.open_exchanges("w") == 1
    links.expire(now=10)
    assert links.by_name == {}
    links.report(report("b1", 1))
    links.lose("b1", now=20)
    links.join("b1")
    links.expire(now=99)
    assert "b1" in links.by_name


def test_a_balancer_of_another_application_holds_no_worker_up():
    """It tries again and again, and is remembered as a refusal until it stays away."""
    links = Links("e", patience=10)
    links.report(report("b1", 5))
    links.join("b2")
    links.report(report("b2", 7, epoch="of another agent"))
    links.refuse("b2", "shop", now=0)
    assert links.released("w", 5)
    assert {name: one.application for name, one in links.refusals.items()} == {"b2": "shop"}
    links.refuse("b2", "shop", now=9)
    links.expire(now=18)
    assert list(links.refusals) == ["b2"]
    links.expire(now=19)
    assert links.refusals == {}


def test_a_balancer_that_serves_from_our_queue_refuses_no_more():
    """Its first report of a queue of ours says so; one of another agent's queue does not."""
    links = Links("e")
    links.refuse("b1", "shop", now=0)
    links.report(report("b1", 7, epoch="of another agent"))
    assert list(links.refusals) == ["b1"]
    links.report(report("b1", 1))
    assert links.refusals == {}
    assert links.by_name["b1"].version == 1
