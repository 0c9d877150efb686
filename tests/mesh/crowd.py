"""`make mesh-crowd`: many nodes on one machine, one job over all of them; what they take.

Each node is a process with one child for units, so three processes with its nursery. Printed are
the seconds until every node is linked to all others, those for the job, and per node: links, memory
(PSS: what processes share is divided among them), descriptors, threads, and CPU when idle.
"""

from __future__ import annotations

import argparse
import json
import os
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
from tests.contract.transports import eventually
from tests.mesh.execution.units import add

UNITS = 2000
IDLE = 5.0  # seconds
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
    # Compiled once, not by each of them.
    env = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    node = subprocess.Popen(words, text=True, env=env, **pipes)  # type: ignore[call-overload]
    stack.callback(node.wait)
    stack.callback(node.kill)
    return node  # type: ignore[no-any-return]


def pss(process: psutil.Process) -> int:
    """Bytes, with what is shared divided by those who share it."""
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def cpu(processes: list[psutil.Process]) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in processes)


def measure(count: int, lease: float, stack: ExitStack) -> dict[str, Any]:
    say = sys.stderr.write
    cache = stack.enter_context(tempfile.TemporaryDirectory())
    began = time.monotonic()
    nodes = [start("node-0", lease, [], cache, stack)]
    seed = nodes[0].stdout.readline().strip()  # type: ignore[union-attr]
    for number in range(1, count):
        nodes.append(start(f"node-{number}", lease, [seed], cache, stack))
        say(f"\rstarted {number + 1} of {count} nodes")
        if number % 4 == 0:  # at most a few at once: a machine has few cores
            nodes[-1].stdout.readline()  # type: ignore[union-attr]
    place = Place(join=[seed], lease=lease)
    link = open_link(place)
    stack.callback(link.close)

    def whole() -> bool:
        told = ask_everybody(link, 30.0)
        linked = sum(one["links"] for one in told.nodes)
        say(f"\r{len(told.nodes)} nodes, {linked} ends of links   ")
        return len(told.nodes) == count and all(one["links"] >= count for one in told.nodes)

    eventually(whole)
    meshed = time.monotonic() - began
    parents = [psutil.Process(node.pid) for node in nodes]
    families = [one for parent in parents for one in (parent, *parent.children(recursive=True))]
    before = cpu(families)
    time.sleep(IDLE)
    idle = (cpu(families) - before) / IDLE / count
    say("\nrunning the job\n")
    with Client(place=place) as client:
        client.map(add, [1]).values()
        began = time.monotonic()
        values = client.map(add, range(UNITS)).values()
        job = time.monotonic() - began
        assert sorted(values) == list(range(UNITS))
    return {
        "nodes": count,
        "lease s": lease,
        "linked after s": round(meshed, 1),
        "links in all": count * (count - 1) // 2,
        "job of 2000 units s": round(job, 2),
        "memory of a node MB": round(mean(map(pss, parents)) / 1e6, 1),
        "with nursery and child MB": round(sum(map(pss, families)) / count / 1e6, 1),
        "descriptors of a node": round(mean(one.num_fds() for one in parents)),
        "threads of a node": round(mean(one.num_threads() for one in parents)),
        "idle CPU of a node %": round(idle * 100, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mesh-crowd", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--lease", type=float, default=10.0, help="seconds")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args()
    with ExitStack() as stack:
        row = measure(given.nodes, given.lease, stack)
    if given.json:
        sys.stdout.write(json.dumps(row, indent=2) + "\n")
        return
    for name, value in row.items():
        sys.stdout.write(f"{name:28}{value:>10}\n")


if __name__ == "__main__":
    main()
