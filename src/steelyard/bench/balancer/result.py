"""A run for programs to read: samples, their summaries, the bars."""

from __future__ import annotations

from pydantic import BaseModel

from steelyard.bench.balancer.bars import Verdict, judge
from steelyard.bench.balancer.report import Report
from steelyard.bench.balancer.summary import Summary, summarise


class Result(BaseModel):
    """The report of a run, with summaries and verdicts."""

    report: Report
    summaries: list[Summary]
    bars: list[Verdict]


def conclude(report: Report) -> Result:
    """Sum the report up, and judge the bars."""
    summaries = summarise(report)
    return Result(report=report, summaries=summaries, bars=judge(summaries))
