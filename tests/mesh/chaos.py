"""`make mesh-chaos`: cuts links between hosts and mends them; measures how long it takes until all
nodes are linked again.

There are two nodes on each of three hosts (network namespaces), all joined through the first. Each
scenario measures the seconds until the cut was noticed everywhere and, from when the links were
back, until every node was linked to all others, and had an answer from each. Meanwhile a job runs
on nodes of a mesh of its own on the same hosts; its client is on the second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from typing import Any, NamedTuple

from tests import reaper
from tests.contract.transports import Remote, eventually
from tests.mesh.chaos_job import Workers
from tests.mesh.hosts import Hosts

PORT = 7447
NODES = 2  # on each host


class Scenario(NamedTuple):
    """Pairs of hosts that are cut from each other; without `both`, only the way from first to
    second.
    """

    name: str
    pairs: tuple[tuple[int, int], ...]
    both: bool = True


SCENARIOS = [
    Scenario("one link cut", ((1, 2),)),
    Scenario("one link cut one way", ((1, 2),), both=False),
    Scenario("seed host isolated", ((0, 1), (0, 2))),
    Scenario("all links cut", ((0, 1), (0, 2), (1, 2))),
]


class Mesh:
    """Nodes on hosts."""

    def __init__(self, hosts: Hosts, nodes: int, stack: ExitStack) -> None:
        self._hosts, self._each = hosts, nodes
        self._nodes: list[tuple[int, Any]] = []
        seed = f"tcp/{hosts.addresses[0]}:{PORT}"
        for number in range(nodes):
            for host, (space, address) in enumerate(
                zip(hosts.spaces, hosts.addresses, strict=True)
            ):
                endpoint = f"tcp/{address}:{PORT + number}"
                join = [] if endpoint == seed else [seed]
                node = Remote(host=space.pid, listen=[endpoint], join=join, insecure=True)
                stack.callback(node.kill)
                node.serve()
                self._nodes.append((host, node))
        eventually(lambda: self.sees(()))

    def sees(self, cut: tuple[tuple[int, int], ...]) -> bool:
        """Whether every node is linked to all nodes of the hosts it can reach, and to no others."""
        return all(
            len(node.peers()) == self._each * self._reached(host, cut) - 1
            for host, node in self._nodes
        )

    def _reached(self, host: int, cut: tuple[tuple[int, int], ...]) -> int:
        hosts = range(len(self._hosts.spaces))
        return sum(not {(host, other), (other, host)} & set(cut) for other in hosts)

    def all_answer(self) -> bool:
        """Whether every node has an answer from every other."""
        nodes = [node for _, node in self._nodes]
        asks = [
            (one, one.ask(other.identity(), b"hello"))
            for one in nodes
            for other in nodes
            if one is not other
        ]
        return all(_answer(node, ask) == [("reply", b"hello")] for node, ask in asks)

    def play(self, scenario: Scenario, hold: float) -> dict[str, object]:
        """Cut, wait and mend; return how long each took."""
        for one, other in scenario.pairs:
            self._hosts.cut(one, other, both=scenario.both)
        began = time.monotonic()
        eventually(lambda: self.sees(scenario.pairs))
        noticed = time.monotonic() - began
        time.sleep(hold)
        for one, other in scenario.pairs:
            self._hosts.mend(one, other, both=scenario.both)
        began = time.monotonic()
        eventually(lambda: self.sees(()))
        linked = time.monotonic() - began
        assert self.all_answer()
        return {
            "scenario": scenario.name,
            "noticed": round(noticed, 2),
            "linked": round(linked, 2),
            "answered": round(time.monotonic() - began, 2),
        }


def _answer(node: Any, ask: int) -> list[tuple[str, bytes]]:
    return eventually(lambda: node.answers(ask))


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mesh-chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hold", type=float, default=3.0, help="seconds that a cut lasts longer")
    parser.add_argument("--units", type=int, default=2000, help="of 20 ms, in each job")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    given = parser.parse_args()
    reaper.folder()  # so that nothing is left if this is killed
    rows = []
    with Hosts(3) as hosts, ExitStack() as stack:
        mesh, workers = Mesh(hosts, NODES, stack), Workers(hosts, stack)
        for number in range(given.rounds):
            for scenario in SCENARIOS:
                sys.stderr.write(f"round {number + 1} of {given.rounds}: {scenario.name}\n")
                job = workers.job(given.units)
                job.under_way()
                rows.append({**mesh.play(scenario, given.hold), "job": job.finish()})
    if given.json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    for row in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        times = [f"{row[name]:>10}" for name in ("noticed", "linked", "answered")]
        sys.stdout.write(f"{row['scenario']:24}{''.join(times)}  {row['job']}\n")


if __name__ == "__main__":
    main()
