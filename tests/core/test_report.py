"""The report message and its histogram."""

from __future__ import annotations

import pytest

from steelyard.core.report import Report, Traffic, parse_report
from steelyard.errors import MalformedError


def test_a_report_survives_the_wire():
    """A report that is written and parsed again is the same."""
    traffic = Traffic(inflight=1, requests=2, failures=0, bytes=10, seconds=0.5)
    report = Report(balancer="b1", epoch="e", version=7, workers={"w1": traffic})
    assert parse_report(report.model_dump_json()) == report


def test_a_malformed_report_is_refused_with_its_place():
    """A negative count raises an error that names its field."""
    text = '{"balancer":"b","epoch":"","version":0,"workers":{"w":{"inflight":-1}}}'
    with pytest.raises(MalformedError, match=r"malformed report: workers\.w\.inflight"):
        parse_report(text)


OF_A_WORKER = ("inflight", "requests", "failures", "bytes", "seconds")
NUMBERS = (*OF_A_WORKER, "version", "waiting", "wait_seconds", "refused", "unshaken")


def told(**changes: str) -> str:
    """A report as text, with some of its numbers replaced."""
    numbers = dict.fromkeys(NUMBERS, "0") | changes
    pairs = {name: f'"{name}":{value}' for name, value in numbers.items()}
    traffic = ",".join(pairs.pop(name) for name in OF_A_WORKER)
    rest = ",".join(pairs.values())
    return f'{{"balancer":"b","epoch":"","workers":{{"w":{{{traffic}}}}},{rest}}}'


def test_an_honest_report_is_read():
    """A valid report is accepted; the cases below differ from it by one number each."""
    assert parse_report(told()).workers["w"].requests == 0


@pytest.mark.parametrize("value", ["-2", "1e308", "Infinity", "-Infinity", "NaN", "1" + "0" * 30])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_out_of_bounds_is_refused_with_its_place(name: str, value: str):
    """Each number of a report is checked against all bounds."""
    with pytest.raises(MalformedError, match=rf"malformed report: (workers\.w\.)?{name}: "):
        parse_report(told(**{name: value}))


@pytest.mark.parametrize(
    "balancer", ["", "x" * 301, "b\\nforged line"], ids=["empty", "long", "two lines"]
)
def test_a_name_that_does_not_fit_a_line_of_the_log_is_refused(balancer: str):
    """A balancer's name is logged, so it must be short and have no line break."""
    with pytest.raises(MalformedError, match="malformed report: balancer: "):
        parse_report(told().replace('"balancer":"b"', f'"balancer":"{balancer}"'))
