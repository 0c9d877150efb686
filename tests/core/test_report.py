"""The report message and its histogram."""

from __future__ import annotations

import pytest

from steelyard.core.report import Report, Traffic, parse_report
from steelyard.errors import MalformedError


def test_a_report_survives_the_wire():
    """Written and read again it is the same."""
    traffic = Traffic(inflight=1, requests=2, failures=0, bytes=10, seconds=0.5)
    report = Report(balancer="b1", epoch="e", version=7, workers={"w1": traffic})
    assert parse_report(report.model_dump_json()) == report


def test_a_malformed_report_is_refused_with_its_place():
    """A negative count is nobody's traffic."""
    text = '{"balancer":"b","epoch":"","version":0,"workers":{"w":{"inflight":-1}}}'
    with pytest.raises(MalformedError, match=r"malformed report: workers\.w\.inflight"):
        parse_report(text)
