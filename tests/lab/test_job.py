"""A job and its nodes, pushed and pulled, at points where the answer is known."""

from __future__ import annotations

import pytest

from steelyard.lab.job import Attempt, Job, Node, draw_job
from steelyard.lab.mesh import Mesh
from steelyard.lab.pull import Hedge, Pull
from steelyard.lab.push import Central, Network, Push
from steelyard.lab.timeline import Timeline

NETWORK = Network(hop=0.001, notice=1.0)
SPEEDS = (1.0, 1.0, 2.0, 8.0)
CENTRAL = [
    Central("weighted_ring"),
    Central("shortest_wait"),
    Central("consistent_hash"),
    Central("least_in_flight", one_each=True),
]


def test_the_ideal_keeps_all_busy_while_they_live():
    """The ideal is the time with all nodes busy, or the largest unit at the fastest node."""
    assert Job([1.0] * 12, [1.0, 2.0], {}).ideal == 4.0
    assert Job([1.0, 9.0], [1.0, 2.0], {}).ideal == 4.5
    # Six units by then, six by the other node alone.
    assert Job([1.0] * 12, [1.0, 2.0], {1: 2.0}).ideal == 8.0
    assert Job([1.0] * 12, [1.0, 2.0], {1: 2.0}).capacity(3.0) == 7.0


def test_units_are_heavy_tailed():
    """Units take a second on average, most far less, some far more; a seed gives the same job."""
    job = draw_job(100_000, SPEEDS, 2, seed=1)
    assert job.total / 100_000 == pytest.approx(0.9, abs=0.1)  # the largest are cut off
    assert sorted(job.works)[50_000] < 0.6
    assert max(job.works) == 100.0
    assert len(job.deaths) == 2
    assert all(0 < time < job.ideal for time in job.deaths.values())
    assert draw_job(100_000, SPEEDS, 2, seed=1) == job


def test_a_node_that_dies_ends_nothing():
    """A node that dies finishes nothing, and its work on the running unit is lost."""
    timeline, done = Timeline(), []
    node = Node(0, 2.0, timeline, done.append)
    node.take(Attempt(0, 6.0))
    node.take(Attempt(1, 6.0))
    timeline.run(until=1.0)
    timeline.at(1.0, lambda _: done.append(node.stop()), None)
    timeline.run()
    assert done == [2.0]
    assert node.busy == 1.0


def methods():
    for central in CENTRAL:
        yield pytest.param(lambda job, central=central, crash=None:
                           Push(job, central, NETWORK, 1, crash).run(),
                           id=f"{central.policy} {central.one_each}")  # fmt: skip
    for hedge in Hedge:
        yield pytest.param(lambda job, hedge=hedge: Pull(job, hedge, NETWORK).run(), id=hedge.name)
    yield pytest.param(lambda job: Mesh(job, NETWORK).run(), id="mesh")


@pytest.mark.parametrize("method", list(methods()))
@pytest.mark.parametrize("deaths", [0, 3])
def test_every_unit_once_and_all_work_accounted_for(method, deaths):
    """Every unit is delivered once, all work is used or lost, and no schedule beats the ideal."""
    for seed in range(5):
        job = draw_job(300, SPEEDS, deaths, seed)
        told = method(job)
        assert told.delivered == 300
        assert told.makespan > job.ideal
        assert told.used * job.capacity(told.makespan) == pytest.approx(job.total + told.lost)


@pytest.mark.parametrize("central", CENTRAL)
def test_a_balancer_that_dies_loses_what_is_open_and_no_unit(central):
    """Nodes go on with units that nobody awaits; ten seconds later all of them are sent again."""
    job = draw_job(300, SPEEDS, 0, seed=1)
    told = Push(job, central, NETWORK, 1, crash=job.ideal / 2).run()
    calm = Push(job, central, NETWORK, 1).run()
    assert told.delivered == 300
    assert told.lost > calm.lost == 0
    assert told.used * job.capacity(told.makespan) == pytest.approx(job.total + told.lost)


def test_messages():
    """A balancer needs four messages per unit; pulling needs two, plus a first pull per node; the
    seed's channels need at least one more per node.
    """
    job = draw_job(300, SPEEDS, 0, seed=1)
    assert Push(job, CENTRAL[0], NETWORK, 1).run().messages == 4 * 300
    assert Pull(job, Hedge.NOTHING, NETWORK).run().messages == 2 * 300 + len(SPEEDS)
    assert Pull(job, Hedge.OLDEST, NETWORK).run().messages > (4 + len(SPEEDS)) * 300


def test_a_dead_nodes_unit_comes_first_and_is_done_by_a_node_that_waits():
    """The unit of a dead node goes to a node that waits, without another question."""
    job = Job([10.0, 1.0], [1.0, 1.0], {0: 3.0})
    told = Pull(job, Hedge.NOTHING, NETWORK).run()
    assert told.makespan == pytest.approx(3.0 + NETWORK.notice + 10.0, abs=0.01)
    assert told.lost == pytest.approx(3.0, abs=0.01)


def test_a_late_unit_is_given_out_once_more():
    """A fast idle node takes a late unit from a slow one; a slow one would not help."""
    works = [0.5] * 60 + [16.0]
    job = Job(works[::-1], [1.0, 1.0, 16.0], {})
    spans = {hedge: Pull(job, hedge, NETWORK).run().makespan for hedge in Hedge}
    assert spans[Hedge.NOTHING] == pytest.approx(16.0, abs=0.1)
    assert spans[Hedge.FASTER] < 6.0
