"""Summaries of the mesh bench, and its bars."""

from __future__ import annotations

import pytest

from steelyard.bench.mesh.bars import judge
from steelyard.bench.mesh.contenders import BARE, DASK, EXECUTOR, MESH, contenders, packages
from steelyard.bench.mesh.faults import Finding
from steelyard.bench.mesh.report import Case, Round, sum_up
from steelyard.bench.mesh.table import fault_rows

SHORT, LONG = Case(2000, 1.0), Case(200, 20.0)


def one(contender: str, case: Case, wall: float, number: int = 0, ideal: float = 0.9) -> Round:
    return Round(
        contender=contender,
        case=str(case),
        round=number,
        units_s=1000.0,
        wall_us=wall,
        cpu_us=wall,
        ideal=ideal,
        messages=0.2 if contender == MESH else None,
        foreign=0.5 if number else 0.0,
    )


def test_the_ideal_is_all_cores_at_work() -> None:
    """The ideal has no time but that of the units, on all cores."""
    assert SHORT.ideal(2) == 1.0
    assert str(SHORT) == "2,000 units of 1 ms"


def test_a_line_has_the_medians_of_its_rounds() -> None:
    """Lines are ordered by case and contender, and count disturbed rounds."""
    rounds = [one(MESH, SHORT, wall, number) for number, wall in enumerate((100.0, 300.0, 120.0))]
    lines = sum_up([*rounds, one(EXECUTOR, SHORT, 400.0), one(MESH, LONG, 900.0)])
    assert [(line.case, line.contender) for line in lines] == [
        (str(SHORT), MESH),
        (str(SHORT), EXECUTOR),
        (str(LONG), MESH),
    ]
    assert (lines[0].wall_us, lines[0].disturbed, lines[0].messages) == (120.0, 2, 0.2)
    assert lines[1].messages is None


def test_bars_are_ratios_of_one_run() -> None:
    """A bar may be kept, not kept, or not measured."""
    rounds = [one(MESH, SHORT, 200.0), one(EXECUTOR, SHORT, 400.0), one(DASK, SHORT, 1000.0)]
    rounds += [one(MESH, LONG, 0.0, ideal=0.9), one(BARE, LONG, 0.0, ideal=0.93)]
    verdicts = judge(sum_up(rounds), str(SHORT), str(LONG))
    assert [verdict.kept for verdict in verdicts] == [True, None, False, False, True]
    assert [verdicts[at].found for at in (0, 3, 4)] == pytest.approx([0.5, 0.9, 0.9 / 0.93])


def test_a_bar_that_is_just_reached_is_kept() -> None:
    """A bar that is just reached is kept, whether it is a minimum or a maximum."""
    rounds = [
        one(MESH, SHORT, 400.0),
        one(EXECUTOR, SHORT, 400.0),
        one(MESH, LONG, 0.0, ideal=0.95),
    ]
    verdicts = judge(sum_up(rounds), str(SHORT), str(LONG))
    assert [verdicts[at].kept for at in (0, 3)] == [True, True]


def test_a_fault_that_costs_an_answer_is_not_made_up_for_by_speed() -> None:
    """A fault that loses an answer is not kept, however fast it was."""
    finding = Finding(fault="f", what="w", found=1.0, bar=2.0, kept=True, answered_once=True)
    lost, slow = {"answered_once": False}, {"kept": False}
    found = [finding.model_copy(update=change) for change in ({}, slow, lost)]
    words = [row[-1] for row in fault_rows(found)]
    assert words == ["kept", "NOT KEPT", "NOT EVERY UNIT ONCE"]


def test_only_what_is_needed_is_installed() -> None:
    """Our contenders and those of the standard library need no package."""
    every = contenders()
    assert packages([every[MESH], every[EXECUTOR]]) == []
    assert packages([every["Celery + Redis"]]) == ["celery", "redis"]
