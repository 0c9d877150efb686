"""Counting instructions per request."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from steelyard.bench.balancer.cases import BROWSER
from steelyard.bench.instructions import CHOICES, CountError, named, request, total


def test_requests_are_those_of_the_cases():
    """A request has the method, path, fields and body of its case."""
    assert request(CHOICES["small"]) == b"GET /128 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    head, _, body = request(CHOICES["post"]).partition(b"\r\n\r\n")
    assert head.startswith(b"POST /128 HTTP/1.1\r\n")
    assert head.endswith(b"\r\nContent-Length: 16384")
    assert body == b"x" * 16384
    assert request(CHOICES["browser"]).count(b"\r\n") == len(BROWSER) + 3


def test_the_total_of_a_dump():
    """`summary:` is 0 in a dump that is made while counting is off, `totals:` is the count."""
    assert total("summary: 0\n\nfn=(1)\n3 4\ntotals: 2043343\n") == 2043343
    with pytest.raises(CountError, match="no total"):
        total("summary: 7\n")


def test_a_tree_that_is_not_built_is_refused(tmp_path):
    """Plain Python under valgrind would be measured as if it were compiled."""
    (tmp_path / "src" / "steelyard").mkdir(parents=True)
    with pytest.raises(CountError, match="no compiled modules"):
        named(tmp_path)


@pytest.mark.needs("compiled")
@pytest.mark.needs("nginx")
@pytest.mark.needs("valgrind")
@pytest.mark.xdist_group("bench")
def test_a_short_run_counts():
    """The balancer's instructions are counted while requests run; their number does not matter."""
    words = ["bench", "instructions", "--case", "small", "--requests", "10", "--rounds", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *words, "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    [told] = json.loads(done.stdout)["counts"]
    assert (told["tree"], told["case"]) == ("here", "small")
    assert told["instructions"] > 1000
