"""`make mesh-crowd`: many nodes on one machine and one job over all of them; prints what they use.

Each node is a process with one child for units, so there are three processes with its nursery. The
output has the seconds until every node is linked to all others and the CPU time that this took, the
time of a job, and per node: links, memory (PSS: shared memory is divided among the processes),
descriptors, threads, and CPU when idle. Nodes are started a few at a time, or, with --at-once, all
of them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import mean
from typing import Any

import psutil

from steelyard.mesh import Client
from steelyard.mesh.join import Place, open_link
from steelyard.mesh.status import ask_everybody
from tests import reaper
from tests.mesh.execution.units import add

UNITS = 2000
IDLE = 5.0  # seconds
PATIENCE = 900.0  # seconds
WAVE = 4  # nodes that start at the same time: a machine has few cores
NODE = """
import sys
from steelyard.mesh import codec
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.join import Place, open_link
from steelyard.mesh.node import Node
link = open_link(Place(join=sys.argv[3:], lease=float(sys.argv[2])))
card = codec.Card(sys.argv[1], procs=1, functions=("tests.mesh.execution.units:add",))
node = Node(link, card, Pool)
node.start()
print(link.locators[0], flush=True)
sys.stdin.read()
"""


def start(
    name: str, lease: float, join: list[str], cache: str, stack: ExitStack
) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", NODE, name, str(lease), *join]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    # Python files are compiled once, not by each node.
    env = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    node = subprocess.Popen(words, text=True, env=env, **pipes)  # type: ignore[call-overload]
    stack.callback(node.wait)
    stack.callback(node.kill)
    return node  # type: ignore[no-any-return]


def pss(process: psutil.Process) -> int:
    """The memory of a process in bytes; shared memory is divided by the number of processes."""
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def cpu(processes: list[psutil.Process]) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in processes)


class Crowd:
    """The nodes, and a link of our own to ask them."""

    def __init__(self, count: int, lease: float, wave: int, stack: ExitStack) -> None:
        self.count, self._stack, self._lease = count, stack, lease
        self._cache = stack.enter_context(tempfile.TemporaryDirectory())
        self.began = time.monotonic()
        self._nodes = [self._start(0)]
        self._seed = self._endpoint(0)
        for number in range(1, count):
            self._nodes.append(self._start(number, self._seed))
            if wave and number % wave == 0:
                self._endpoint(number)
            say(f"\rstarted {number + 1} of {count} nodes")
        self.place = Place(join=[self._seed], lease=lease)
        self._link = open_link(self.place)
        stack.callback(self._link.close)

    def _start(self, number: int, *join: str) -> subprocess.Popen[str]:
        return start(f"node-{number}", self._lease, [*join], self._cache, self._stack)

    def _endpoint(self, number: int) -> str:
        return self._nodes[number].stdout.readline().strip()  # type: ignore[union-attr]

    def wait(self) -> None:
        """Wait until every node is linked to all others, and to us."""
        until = time.monotonic() + PATIENCE
        while not self._whole():
            assert time.monotonic() < until, "waited in vain"
            time.sleep(1.0)

    def _whole(self) -> bool:
        links = [one["links"] for one in ask_everybody(self._link, 30.0).nodes]
        seconds = time.monotonic() - self.began
        say(f"\r{seconds:.0f} s: {len(links)} nodes, {sum(links)} ends of links   ")
        return len(links) == self.count and min(links) >= self.count

    @property
    def nodes(self) -> list[psutil.Process]:
        return [psutil.Process(node.pid) for node in self._nodes]


def say(text: str) -> None:
    sys.stderr.write(text)


def idle(processes: list[psutil.Process]) -> float:
    """How many cores the processes take when there is nothing to do."""
    before = cpu(processes)
    time.sleep(IDLE)
    return (cpu(processes) - before) / IDLE


def run_job(place: Place) -> float:
    """Run all units; return the seconds that they took."""
    with Client(place=place) as client:
        client.map(add, [1]).values()
        began = time.monotonic()
        values = client.map(add, range(UNITS)).values()
        took = time.monotonic() - began
    assert sorted(values) == list(range(UNITS))
    return took


def measure(count: int, lease: float, wave: int, stack: ExitStack) -> dict[str, Any]:
    crowd = Crowd(count, lease, wave, stack)
    crowd.wait()
    linked = time.monotonic() - crowd.began
    parents = crowd.nodes
    families = [one for parent in parents for one in (parent, *parent.children(recursive=True))]
    spent, resting = cpu(families), idle(families)
    say("\nrunning the job\n")
    job = run_job(crowd.place)
    return {
        "nodes": count,
        "lease s": lease,
        "linked after s": round(linked, 1),
        "CPU until then s": round(spent, 1),
        "links in all": count * (count - 1) // 2,
        f"job of {UNITS} units s": round(job, 2),
        "units/s": round(UNITS / job),
        "memory of a node MB": round(mean(map(pss, parents)) / 1e6, 1),
        "with nursery and child MB": round(sum(map(pss, families)) / count / 1e6, 1),
        "descriptors of a node": round(mean(one.num_fds() for one in parents)),
        "threads of a node": round(mean(one.num_threads() for one in parents)),
        "idle CPU of a node %": round(resting * 100 / count, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mesh-crowd", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--lease", type=float, default=10.0, help="seconds")
    parser.add_argument("--at-once", action="store_true", help="start all nodes at once")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args()
    reaper.folder()  # so that nothing is left if this is killed
    # Without this handler a SIGTERM would leave the nodes behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with ExitStack() as stack:
        row = measure(given.nodes, given.lease, 0 if given.at_once else WAVE, stack)
    if given.json:
        sys.stdout.write(json.dumps(row, indent=2) + "\n")
        return
    for name, value in row.items():
        sys.stdout.write(f"{name:28}{value:>10}\n")


if __name__ == "__main__":
    main()
