"""Whole runs, as short as possible."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from steelyard.bench.usage import tree

pytestmark = pytest.mark.xdist_group("bench")  # one at a time, as benchmarks are run

BENCH = [sys.executable, "-m", "steelyard", "bench"]


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
def test_a_short_run_has_samples_of_all_and_their_ratios(tmp_path):
    """A run of one second per case gives JSON of the right shape; the figures do not matter.

    The CPU time of a round is tested in test_round.py, with a proxy that uses a known time.
    """
    page = tmp_path / "benchmarks.md"
    words = ["balancer", "--rounds", "1", "--seconds", "1", "--connections", "4", "--no-install"]
    words += ["--only", "pure,nginx", "--case", "small,post,websocket", "--json"]
    done = subprocess.run(
        [*BENCH, *words, "--write", str(page)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["report"]["absences"] == []
    measured = {(one["contender"], one["case"]): one for one in told["report"]["samples"]}
    assert {(who, case) for who in ("pure", "nginx") for case in ("small", "post")} < set(measured)
    for one in measured.values():
        assert one["requests"] > 0
        assert one["errors"] == 0
        assert one["memory"] > 0
    ours = next(one for one in told["summaries"] if one["contender"] == "pure")
    assert set(ours["ratios"]) <= {"nginx"}
    asked = [one for one in measured.values() if one["case"] != "websocket"]
    assert all(one["reconnects"] == 0 for one in asked), "upstream connections are not kept"
    assert "| pure |" in page.read_text()
    # Neither compiled nor aiohttp was measured.
    assert {one["kept"] for one in told["bars"]} == {None}


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
def test_an_interrupted_run_leaves_no_process():
    """Ctrl-C stops proxies, backend and client."""
    words = ["balancer", "--rounds", "9", "--seconds", "30", "--no-install", "--only", "nginx"]
    run = subprocess.Popen(
        [*BENCH, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Like the child of a terminal: one that a script puts into the background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 30
    while len(family := tree(run.pid)) < 6 and time.monotonic() < deadline:  # two nginx and wrk
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    try:
        run.communicate(timeout=30)
    finally:
        run.kill()
    assert run.returncode == 130
    assert len(family) >= 6
    assert not [pid for pid in family if os.path.exists(f"/proc/{pid}")]


def test_a_short_tail_run_serves_every_request():
    """The workers of the bench answer every request through our balancer."""
    only = "steelyard ring_of_two,steelyard shortest_wait"
    words = ["tail", "--rounds", "1", "--seconds", "1", "--no-install", "--json", "--only", only]
    done = subprocess.run([*BENCH, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    ours = [one for one in told["rounds"] if one["contender"].startswith("steelyard")]
    assert ours
    assert all(one["errors"] == 0 and sum(one["served"]) == one["requests"] for one in ours)


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
@pytest.mark.needs("openssl")
def test_a_short_tls_run_has_all_costs():
    """Two servers are measured in three cases each, plain and over TLS, without a failure."""
    words = ["tls", "--rounds", "1", "--seconds", "1", "--connections", "4", "--json"]
    done = subprocess.run([*BENCH, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    costs = json.loads(done.stdout)["costs"]
    assert len({(one["server"], one["tls"], one["case"]) for one in costs}) == 12
    assert all(one["us"] >= 0 and one["errors"] == 0 for one in costs)


def test_an_unknown_name_is_told_with_those_there_are():
    """An unknown contender or case is an error that lists the known ones."""
    done = subprocess.run([*BENCH, "balancer", "--only", "apache"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "nginx" in done.stderr
