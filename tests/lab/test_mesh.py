"""The shipped mesh on virtual time, at points where the answer is known."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean

import pytest

from steelyard.lab.children import LONGEST_NAP, Children
from steelyard.lab.job import Job, draw_job
from steelyard.lab.mesh import Mesh
from steelyard.lab.push import Network
from steelyard.lab.timeline import Timeline
from steelyard.mesh.execution.outcome import Kind

NETWORK = Network(hop=0.001, notice=0.5)
SPEEDS = (1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 8.0)


def spans(jobs: list[Job]) -> list[float]:
    return [Mesh(job, NETWORK).run().makespan / job.ideal for job in jobs]


def jobs(seconds: float) -> list[Job]:
    """The jobs of `lab compare`, smaller, with units of a given mean length."""
    drawn = [draw_job(600, SPEEDS, 0, seed) for seed in range(20)]
    return [Job([work * seconds for work in job.works], SPEEDS, {}) for job in drawn]


@pytest.mark.parametrize("seconds", [1.0, 0.3, 0.1])
def test_a_job_of_unequal_units_on_unequal_nodes(seconds):
    """Batches cost little, and no large unit stays at a slow node while a fast one is idle: with at
    most two copies of a unit, the worst of these jobs would take 2.6 times the shortest time.
    """
    took = spans(jobs(seconds))
    assert fmean(took) < 1.13
    assert max(took) < 1.6


def test_equal_units_are_done_as_fast_as_can_be():
    """Short units in batches keep all nodes busy until the end."""
    job = Job([0.01] * 2000, [1.0] * 4, {})
    told = Mesh(job, NETWORK).run()
    assert told.delivered == 2000
    assert told.makespan < 1.05 * job.ideal
    assert told.messages < 0.5 * 2000
    assert told.lost < 0.02 * job.total


def test_one_long_unit_takes_as_long_as_it_takes():
    """A single unit takes its work and the messages in both directions."""
    told = Mesh(Job([3.0], [2.0], {}), NETWORK).run()
    assert told.makespan == pytest.approx(1.5 + 3 * NETWORK.hop)
    assert told.messages == 5  # a pull, a grant, a parked pull; then the result and its answer


def test_what_dies_with_a_node_is_done_again():
    """An idle node does the unit of a dead node again, as soon as its death is noticed."""
    told = Mesh(Job([10.0, 1.0], [1.0, 1.0], {0: 3.0}), NETWORK).run()
    assert told.delivered == 2
    assert told.lost == pytest.approx(3.0, abs=0.01)
    assert told.makespan == pytest.approx(3.0 + NETWORK.notice + 10.0, abs=0.01)


class Stage:
    def __init__(self, count: int = 1) -> None:
        self.timeline = Timeline()
        self.told: list[tuple[float, list[tuple[int, Kind]]]] = []
        self.children = Children(count, 2.0, self.timeline, self._tell)

    def _tell(self, ended) -> None:
        self.told.append((self.timeline.now, [(one.ticket, one.kind) for one in ended]))


def test_children_do_one_after_the_other():
    """Children run units one after the other, at the speed of their node."""
    stage = Stage()
    stage.children.start(1, 1.0)
    stage.children.start(2, 0.5)
    stage.timeline.run()
    assert stage.children.worked == 1.5
    assert stage.told == [(0.5, [(1, Kind.VALUE)]), (0.75, [(2, Kind.VALUE)])]


def test_what_waits_can_be_recalled_and_what_runs_cancelled():
    """A cancelled unit counts only the work that was done."""
    stage = Stage()
    for ticket in (1, 2, 3):
        stage.children.start(ticket, 1.0)
    assert stage.children.recall() == (2, 3)
    stage.timeline.at(0.25, stage.children.cancel, 1)
    stage.timeline.run()
    assert stage.told == [(0.25, [(1, Kind.CANCELLED)])]
    assert stage.children.worked == 0.5


def test_ends_are_told_together_while_there_is_enough_to_do():
    """Ends are reported together while there is enough to do, and the last ones at once."""
    stage = Stage()
    for ticket in range(200):
        stage.children.start(ticket, 0.02)
    stage.timeline.run()
    assert [ticket for _, ended in stage.told for ticket, _ in ended] == list(range(200))
    waits = [later - time for (time, _), (later, _) in pairwise(stage.told)]
    assert max(waits) <= LONGEST_NAP + 0.01
    assert len(stage.told) < 50
    assert stage.told[-1][0] == pytest.approx(2.0)
