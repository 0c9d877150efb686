"""The report message and its histogram."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.report import BOUNDS, Report, Traffic, bucket, parse_report
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


@given(st.floats(0, 1e4))
def test_a_time_falls_into_the_bucket_that_bounds_it(seconds):
    """At most its upper bound, more than the bound below."""
    index = bucket(seconds)
    assert index == len(BOUNDS) or seconds <= BOUNDS[index]
    assert index == 0 or seconds > BOUNDS[index - 1]
