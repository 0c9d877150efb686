"""A job under `steelyard balancer`: a client keeps a window of requests open; nodes are
behind it.
"""

from __future__ import annotations

import http.client
import time
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from threading import Lock, Thread

from steelyard.bench.jobs.order import Order, Outcome, Stage
from steelyard.bench.launch import Command, Launched
from steelyard.bench.ports import HOST, accepts, free_port
from steelyard.python import module

PATIENCE = 300.0
PAUSE = 0.05  # seconds before a unit that failed is sent again


def pushed(order: Order, policy: str, window: int, one_each: bool, folder: Path) -> Outcome:
    """Run a job from its first unit to its last; `window` units are open per node."""
    stage = Stage(order, folder)
    ports = [free_port() for _ in order.speeds]
    with ExitStack() as stack:
        nodes = [stack.enter_context(_node(stage, node, port, folder))
                 for node, port in enumerate(ports)]  # fmt: skip
        for node, port in zip(nodes, ports, strict=True):
            node.wait_until(lambda port=port: accepts(port), "a node", PATIENCE)  # type: ignore[misc]
        listen = free_port()
        words = module("steelyard", "balancer", "--listen", f"{HOST}:{listen}")
        words += ["--processes", "1", "--policy", policy, "--state", str(folder)]
        words += (
            ["--gateway-worker-concurrency", "1", "--gateway-waiting-time", "300s"]
            if one_each
            else []
        )
        words += [word for port in ports for word in ("--worker", f"{HOST}:{port}")]
        balancer = stack.enter_context(Launched(Command(words), None, folder / "balancer.txt"))
        balancer.wait_until(lambda: accepts(listen), "steelyard balancer", PATIENCE)
        stage.begin(lambda node: nodes[node].kill())
        return stage.end(Client(order, listen, window * len(ports)).run(), messages=0)


class Client:
    """A client with so many connections; each sends the next unit when it has its answer."""

    def __init__(self, order: Order, port: int, connections: int) -> None:
        self._order, self._port, self._connections = order, port, connections
        self._todo = deque(range(len(order.works)))
        self._done: list[int] = []
        self._lock = Lock()

    def run(self) -> list[int]:
        """Run all units; return those that were answered, in that order."""
        threads = [Thread(target=self._work, daemon=True) for _ in range(self._connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        return self._done

    def _work(self) -> None:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=PATIENCE)
        while len(self._done) < len(self._order.works):
            try:
                unit = self._todo.popleft()
            except IndexError:  # other threads have the rest, and may have to give units back
                time.sleep(PAUSE)
                continue
            if self._answered(connection, unit):
                with self._lock:
                    self._done.append(unit)
            else:
                self._todo.appendleft(unit)
                time.sleep(PAUSE)
        connection.close()

    def _answered(self, connection: http.client.HTTPConnection, unit: int) -> bool:
        try:
            connection.request("GET", f"/{unit}/{self._order.works[unit]}")
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()  # the next request opens the connection anew
            return False
        return answer.status == 204


def _node(stage: Stage, node: int, port: int, folder: Path) -> Launched:
    words = module("steelyard.bench.jobs.server", str(port))
    return Launched(Command(words, stage.environment(node)), None, folder / f"server-{node}.txt")
