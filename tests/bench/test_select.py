"""The select bench: made-up figures, and a real run as short as possible."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from steelyard.bench.select.cases import BASELINE, MANY, RING, SIZES, Build, Case, Kind, cases
from steelyard.bench.select.report import SelectReport, judge, student, sum_up, without_outliers
from steelyard.bench.select.subject import Order, Sample, Subject
from steelyard.bench.select.table import page, tables

BENCH = [sys.executable, "-m", "steelyard", "bench", "select"]


def report(costs: dict[Case, list[float]]) -> SelectReport:
    lines = sum_up({case: [Sample(cpu_ns=ns, wall_ns=2 * ns) for ns in each]
                    for case, each in costs.items()})  # fmt: skip
    return SelectReport(date="2026-01-01", machine="a machine", command="steelyard bench select",
                        rounds=3, seconds=0.01, notes=["noisy"], lines=lines,
                        bars=judge(lines))  # fmt: skip


def pure(policy: str, members: int = 8, kind: Kind = Kind.PICK) -> Case:
    return Case(build=Build.PURE, kind=kind, policy=policy, members=members)


TOLD = report({
    pure(BASELINE): [390.0, 400.0, 500.0],
    pure("linked_ring"): [50.0, 50.0, 50.0],
    pure(RING): [40.0, 40.0, 41.0],
    pure(RING, SIZES[-1]): [90.0, 90.0, 90.0],
    pure(RING, kind=Kind.READ): [30.0, 30.0, 30.0],
    pure(RING, SIZES[-1], Kind.READ): [45.0, 45.0, 45.0],
})  # fmt: skip


def test_bars_are_of_medians_and_say_what_was_not_measured():
    """The best ring is at 0.10 of locked random; the largest ring is at 2.25 of the smallest, where
    reading a list of that size is at 1.5.
    """
    found = {bar.what.partition(":")[2] or bar.what: (bar.found, bar.kept) for bar in TOLD.bars}
    assert found[" the best ring over locked random, one thread (article: 0.38)"] == (0.1, True)
    grown = (
        " how a pick grows from 8 to 100,000 members, over how reading a plain list of them does"
    )
    assert found[grown] == (1.5, False)
    assert found[" a pick among 100,000 over one among 8"] == (None, None)
    assert found["a pick from compiled code, ns"] == (None, None)
    assert len(found) == 5


def test_the_articles_columns():
    """The table has mean, half of the 99.9 % interval, deviation, ratio, and the article's
    figures.
    """
    rows = {row[0]: row[1:] for row in tables(TOLD)[1].rows}
    assert rows["pure: locked_random"] == [
        "430.0", "–", "60.83", "1.000", "1,250,000", "26.52", "1.00",
    ]  # fmt: skip
    assert rows["pure: weighted_ring"][3:] == ["0.100", "12,500,000", "–", "–"]


def test_every_row_is_as_wide_as_the_head():
    """Every row is as wide as the head, even for cases that were not measured."""
    for table in tables(TOLD):
        assert {len(row) for row in table.rows} <= {len(table.columns)}
    text = page(TOLD)
    for part in ("2026-01-01", "a machine", "`steelyard bench select`", "noisy", "NOT KEPT"):
        assert part in text


def test_what_is_far_above_the_others_is_left_out_of_the_mean():
    """One disturbed sample of many is left out; of a few, it is not known which one is
    disturbed.
    """
    assert without_outliers([10.0, 11.0, 12.0, 11.0, 10.0, 90.0]) == [10, 11, 12, 11, 10]
    assert without_outliers([10.0, 90.0]) == [10.0, 90.0]


def test_the_error_is_half_of_an_interval_of_the_mean():
    """The error is half of the 99.9 % interval of the mean, and unknown for a few samples."""
    (line,) = sum_up({pure(RING): [Sample(cpu_ns=40.0 + at % 3, wall_ns=50.0) for at in range(15)]})
    assert line.deviation == pytest.approx(0.845, abs=0.001)
    assert line.error == pytest.approx(4.14 * 0.845 / 15**0.5, abs=0.01)


def test_students_t():
    """The quantiles agree with a published table."""
    assert student(14) == pytest.approx(4.140, rel=0.01)
    assert student(1000) == pytest.approx(3.300, rel=0.01)


def test_each_case_is_there_once_and_no_larger_than_wished():
    """The cases cover the article's table, growth and every policy."""
    every = cases(list(Build), most=MANY)
    assert len(set(every)) == len(every)
    assert max(case.members for case in every) == MANY
    assert {case.build for case in every if case.kind is Kind.STRIDE} == {Build.COMPILED}


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sample_is_of_one_pick(threads):
    """A heavier policy costs more, in one thread and in several."""
    subject = Subject()

    def cost(policy: str) -> float:
        case = Case(build=Build.PURE, kind=Kind.PICK, policy=policy, threads=threads)
        return min(subject.measure(Order(case=case, seconds=0.01)).cpu_ns for _ in range(5))

    assert 0 < cost(RING) < cost(BASELINE)


def test_a_short_run_measures_every_case(tmp_path):
    """A run of the real processes gives JSON of the right shape; the figures do not matter."""
    file = tmp_path / "benchmarks.md"
    words = ["--rounds", "1", "--seconds", "0.001", "--most", "8", "--json", "--out", str(file)]
    done = subprocess.run([*BENCH, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert all(one["samples"] == 1 and one["per_second"] > 0 for one in told["lines"])
    builds = {one["case"]["build"] for one in told["lines"]}
    assert len(told["lines"]) == len(cases([Build(name) for name in builds], most=8))
    assert "pure: weighted_ring" in file.read_text()
