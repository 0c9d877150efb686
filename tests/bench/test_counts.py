"""The counts that clients print, and the script for wrk."""

from __future__ import annotations

import pytest

from steelyard.bench.balancer import wrk
from steelyard.bench.balancer.cases import CASES
from steelyard.bench.balancer.counts import Counts, parse_counts

WRK = """Running 1s test @ http://127.0.0.1:8080/128
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.36ms    1.35ms  21.04ms   86.36%
Requests/sec:  18932.40
counted: {"requests": 19024, "seconds": 1.004, "bytes": 4128208, "p50_us": 3191, "p99_us": 8340, "errors": 2}
"""  # noqa: E501 - as wrk prints it


def test_counts_are_read_from_wrks_output():
    """Counts are exact, not the figures that wrk rounds for people."""
    assert parse_counts(WRK) == Counts(19024, 1.004, 4128208, 3191, 8340, 2)


def test_counts_survive_their_own_line():
    """The line of the WebSocket client can be parsed like that of wrk."""
    counts = Counts(7, 2.5, 700, 1.0, 2.0, 0)
    assert parse_counts(counts.line()) == counts


def test_a_client_that_failed_is_quoted():
    """The output of a client that failed is quoted in the error."""
    with pytest.raises(ValueError, match="unable to connect"):
        parse_counts("unable to connect to 127.0.0.1:1 Connection refused\n")


def test_the_script_says_what_the_case_says():
    """The script has the method, the body and the fields of a browser; Host is added by wrk."""
    by_name = {case.name: wrk.script(case) for case in CASES}
    assert 'wrk.method = "POST"' in by_name["post"]
    assert 'string.rep("x", 16384)' in by_name["post"]
    assert by_name["browser"].count("wrk.headers[") == 10
