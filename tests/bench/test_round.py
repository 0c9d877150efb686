"""One round: what it counts, and where the client itself goes wrong."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from steelyard.bench.balancer import round as rounds
from steelyard.bench.balancer.cases import CASES
from steelyard.bench.balancer.counts import Counts
from steelyard.bench.machine import choose_cores

# It uses half a second of CPU time before its first line, and as much after it is asked.
PROXY = """
import time
for end in (0.5, 1.0):
    while time.process_time() < end: pass
    print("used", flush=True)
    input()
"""


@pytest.mark.parametrize(("after", "found"), [(11, 0), (75, 0), (80, 5), (None, None)])
def test_reconnects_are_connections_beyond_the_clients(after, found):
    """The first connection of each of the 64 clients and our own question are no reconnects."""
    assert rounds._reconnects(10, after, connections=64) == found


LOAD = rounds.Load(seconds=1, connections=8, crowd=0)


@pytest.mark.parametrize("words", [["echo", "unable to connect"], ["sleep", "30"]])
def test_a_client_that_fails_is_a_failed_round(words, monkeypatch):
    """A client that fails counts as errors of its contender, and the run goes on."""
    monkeypatch.setattr(rounds, "GRACE", -0.9)
    counts = rounds._client(words, LOAD)
    assert (counts.requests, counts.errors) == (0, 8)


def test_the_cost_of_a_round_is_the_cpu_time_of_the_proxy_in_it(tmp_path, monkeypatch):
    """Neither what it used before, nor what others use; whatever else the machine has to do."""
    with subprocess.Popen(
        [sys.executable, "-c", PROXY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as proxy:

        def ask(*_):
            proxy.stdin.write(b"\n")
            proxy.stdin.flush()
            assert proxy.stdout.readline() == b"used\n"
            return Counts(7, 1.0, 7 * CASES[0].size, 1.0, 2.0, 0)

        assert proxy.stdout.readline() == b"used\n"
        monkeypatch.setattr(rounds, "_ask", ask)
        bench = rounds.Bench(choose_cores(), tmp_path, LOAD)
        target = rounds.Target("it", proxy.pid, 0)
        backend = SimpleNamespace(accepted=lambda: None)
        sample = rounds.play(bench, CASES[0], target, backend, 1)
        proxy.kill()
    assert 0.45 < sample.cpu_user + sample.cpu_system < 0.75
    assert sample.requests == 7
