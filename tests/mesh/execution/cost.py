"""`make mesh-pool`: the cost of a unit in a pool, and of a crash.

Units spin for a millisecond on four children, and are kept in flight in batches of eight, as a node
does; ProcessPoolExecutor runs the same function one by one and in chunks of eight. The overhead in
wall time is what a unit took beyond its share of the cores; the CPU time is the parent's. All
contenders take turns in one run: on a busy machine only ratios count. Then the script measures the
time from a crash to the next outcome of the same, only child, and the start of a new interpreter,
which forking avoids.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from statistics import median

from steelyard.mesh.execution import Unit, wire
from steelyard.mesh.execution.pool import Pool
from tests.mesh.execution.units import spin

CHILDREN, BATCH, IN_FLIGHT = 4, 8, 4
MILLISECONDS = 1.0
CORES = len(os.sched_getaffinity(0))
HERE = "tests.mesh.execution.units"


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ours(units: int) -> None:
    """Refill by batches, from the thread that delivers."""
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    pool = Pool(CHILDREN, lambda outcomes: done.put(len(outcomes)))
    unit = Unit(f"{HERE}:spin", wire.pack_call(MILLISECONDS))

    def run(first: int, count: int) -> None:
        begun, ended = 0, 0
        while ended < count:
            while begun < count and begun - ended < BATCH * IN_FLIGHT:
                pool.start_all([(first + begun + at, unit) for at in range(BATCH)])
                begun += BATCH
            ended += done.get()

    run(0, BATCH * CHILDREN)  # now the children have started, and have imported
    with timed("pool, batches of 8", units):
        run(10**6, units)
    pool.close()


def theirs(units: int, chunk: int) -> None:
    with ProcessPoolExecutor(CHILDREN) as pool:
        list(pool.map(spin, [MILLISECONDS] * 40))
        with timed(f"ProcessPoolExecutor, chunks of {chunk}", units):
            list(pool.map(spin, [MILLISECONDS] * units, chunksize=chunk))


ROWS: dict[str, list[tuple[float, float]]] = {}


class timed:  # noqa: N801 - read as a statement
    def __init__(self, name: str, units: int) -> None:
        self._name, self._units = name, units

    def __enter__(self) -> None:
        self._cpu, self._began = cpu(), time.perf_counter()

    def __exit__(self, *error: object) -> None:
        wall = (time.perf_counter() - self._began) / self._units - MILLISECONDS / 1e3 / CORES
        ROWS.setdefault(self._name, []).append((wall, (cpu() - self._cpu) / self._units))


def crash() -> float:
    """Seconds from a unit that ends its child to the outcome of the next one."""
    told: queue.SimpleQueue[int] = queue.SimpleQueue()
    pool = Pool(1, lambda outcomes: told.put(len(outcomes)), preload=[HERE])
    add = Unit(f"{HERE}:add", wire.pack_call(1))
    pool.start(1, add)
    told.get()
    began = time.perf_counter()
    pool.start_all([(2, Unit(f"{HERE}:leave", wire.pack_call(1))), (3, add)])
    ended = 0
    while ended < 2:
        ended += told.get()
    taken = time.perf_counter() - began
    pool.close()
    return taken


def spawn() -> float:
    """Seconds for a new interpreter to import what a child needs."""
    began = time.perf_counter()
    code = f"import steelyard.mesh.execution.child, {HERE}"
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mesh-pool", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args()
    contenders: list[Callable[[], None]] = [
        lambda: ours(given.units),
        lambda: theirs(given.units, 1),
        lambda: theirs(given.units, BATCH),
    ]
    for number in range(given.rounds):
        sys.stderr.write(f"round {number + 1} of {given.rounds}\n")
        for run in contenders:
            run()
    rows = {
        name: {
            "wall µs": round(median(w for w, _ in seen) * 1e6),
            "CPU µs": round(median(c for _, c in seen) * 1e6),
        }
        for name, seen in ROWS.items()
    }
    ends = {
        "from a crash to the next outcome, ms": round(median(crash() for _ in range(5)) * 1e3, 1),
        "a new interpreter, ms": round(median(spawn() for _ in range(5)) * 1e3, 1),
    }
    if given.json:
        sys.stdout.write(json.dumps({**rows, **ends}, indent=2, ensure_ascii=False) + "\n")
        return
    for name, row in rows.items():
        cells = "".join(f"{value:>8} {unit}" for unit, value in row.items())
        sys.stdout.write(f"{name:36}{cells}\n")
    for name, value in ends.items():
        sys.stdout.write(f"{name:40}{value:>8}\n")


if __name__ == "__main__":
    main()
