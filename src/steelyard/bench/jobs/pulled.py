"""A job on the mesh: its nodes are `steelyard mesh worker`, one child each."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

from steelyard.bench.jobs.order import Order, Outcome, Stage
from steelyard.bench.mesh.nodes import NodeError
from steelyard.mesh import Client
from steelyard.python import module

NAP = "steelyard.bench.jobs.work:nap"
PATIENCE = 300.0  # seconds for a start, or for a whole job


def pulled(order: Order, folder: Path) -> Outcome:
    """Run a job from its first unit to its last."""
    stage = Stage(order, folder)
    with ExitStack() as stack:
        nodes = [_start(stage, 0, "", stack)]
        where = _where(nodes[0])
        nodes += [_start(stage, node, where, stack) for node in range(1, len(order.speeds))]
        # The client joins all nodes: the first of them may die.
        client = stack.enter_context(Client([where, *map(_where, nodes[1:])]))
        client.wait_for_workers(len(nodes), PATIENCE)
        before = client.pulls
        stage.begin(lambda node: nodes[node].kill())
        job = client.map(NAP, list(enumerate(order.works)), keys=range(len(order.works)))
        delivered = [answer.key for answer in job.as_completed(PATIENCE) if answer.ok]
        return stage.end(delivered, 2 * (client.pulls - before))


def _start(stage: Stage, node: int, join: str, stack: ExitStack) -> subprocess.Popen[str]:
    words = module("steelyard", "mesh", "worker", NAP, "--procs", "1")
    process = subprocess.Popen(
        [*words, *([f"--join={join}"] if join else [])],
        env={**os.environ, **stage.environment(node)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    stack.callback(_end, process)
    return process


def _where(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    line = process.stdout.readline()
    if not line:
        raise NodeError("a node did not start", hint="try: steelyard mesh worker math:sqrt")
    return line.split()[-1]


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
