"""One round: one contender, one case, once."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from steelyard.bench.balancer import wrk
from steelyard.bench.balancer.backend import Backend
from steelyard.bench.balancer.cases import Case, Kind
from steelyard.bench.balancer.counts import Counts, parse_counts
from steelyard.bench.balancer.idle import Crowd
from steelyard.bench.balancer.report import Sample
from steelyard.bench.launch import pinned
from steelyard.bench.machine import Cores
from steelyard.bench.noise import Quiet
from steelyard.bench.usage import anonymous_of, cpu_of, memory_of
from steelyard.python import module

GRACE = 20.0  # seconds after which a client that takes too long is ended
SETTLE = 0.3  # seconds in which a proxy frees the memory that requests needed


class Load(NamedTuple):
    """How much load: connections at once, for so many seconds; how many connections stay idle."""

    seconds: int
    connections: int
    crowd: int


class Bench(NamedTuple):
    """The place of all rounds: cores, folder and load."""

    cores: Cores
    folder: Path
    load: Load


class Target(NamedTuple):
    """A running contender."""

    name: str
    pid: int
    port: int


def play(bench: Bench, case: Case, target: Target, backend: Backend, number: int) -> Sample:
    """Load one contender once, and measure what that costs it."""
    known = backend.accepted()
    quiet = Quiet(set(bench.cores))
    before = cpu_of(target.pid)
    if case.kind is Kind.IDLE:
        counts, idle_bytes = _crowd(target, bench.load.crowd)
    else:
        counts, idle_bytes = _ask(bench, case, target.port), None
    spent = cpu_of(target.pid).since(before)
    return Sample(
        contender=target.name,
        case=case.name,
        round=number,
        requests=counts.requests,
        seconds=counts.seconds,
        cpu_user=spent.user,
        cpu_system=spent.system,
        p50_us=counts.p50_us,
        p99_us=counts.p99_us,
        errors=counts.errors + _too_short(case, counts),
        memory=memory_of(target.pid),
        idle_bytes=idle_bytes,
        foreign=quiet.foreign(),
        reconnects=_reconnects(known, backend.accepted(), bench.load.connections),
    )


def _ask(bench: Bench, case: Case, port: int) -> Counts:
    seconds, connections, _ = bench.load
    if case.kind is Kind.WEBSOCKET:
        client = "steelyard.bench.balancer.websocket_client"
        words = module(client, str(port), str(seconds), str(connections))
    else:
        words = wrk.words(case, port, seconds, connections, bench.folder)
    return _client([*pinned(bench.cores.rest), *words], bench.load)


def _client(words: list[str], load: Load) -> Counts:
    """Run the client and return its counts; if it fails, every connection counts as failed."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=load.seconds + GRACE, check=False
        )
        return parse_counts(done.stdout + done.stderr)
    except (ValueError, subprocess.TimeoutExpired):
        return Counts(0, load.seconds, 0, 0.0, 0.0, errors=load.connections)


def _crowd(target: Target, count: int) -> tuple[Counts, float | None]:
    """Measure the memory per idle connection: memory with the crowd less memory without."""
    before, began = anonymous_of(target.pid), time.monotonic()
    with Crowd(target.port, count) as crowd:
        seconds = time.monotonic() - began
        time.sleep(SETTLE)
        grown = anonymous_of(target.pid) - before
        errors = crowd.errors + crowd.gone()
        per_connection = grown / len(crowd) if len(crowd) else None
    return Counts(count, seconds, 0, 0.0, 0.0, errors), per_connection


def _reconnects(before: int | None, after: int | None, connections: int) -> int | None:
    """How often the proxy connected anew to the backend. Our own question is not counted."""
    if before is None or after is None:
        return None
    return max(after - before - 1 - connections, 0)


def _too_short(case: Case, counts: Counts) -> int:
    """1 if there were fewer bytes than the answers must have: at least one was cut."""
    if case.kind is not Kind.HTTP:
        return 0
    return int(counts.bytes < counts.requests * case.size)
