"""A run as programs read it: samples, what they sum up to, the bars."""

from __future__ import annotations

from pydantic import BaseModel

from steelyard.bench.balancer.bars import Verdict, judge
from steelyard.bench.balancer.report import Report
from steelyard.bench.balancer.summary import Summary, summarise


class Result(BaseModel):
    """Everything."""

    report: Report
    summaries: list[Summary]
    bars: list[Verdict]


def conclude(report: Report) -> Result:
    """Sum up, and judge."""
    summaries = summarise(report)
    return Result(report=report, summaries=summaries, bars=judge(summaries))
