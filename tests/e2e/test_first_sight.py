"""The first minute: the lines that a start prints, and the commands that they suggest."""

from __future__ import annotations

import re
import subprocess

from steelyard import purity
from tests.e2e.gateway import Gateway
from tests.waiting import wait_until


def test_the_closing_line_has_a_command_that_works_as_it_stands(gateway, tmp_path):
    """The suggested command works in another folder, without the start's flags and variables."""
    g = gateway("--min", "1", "--max", "1").start()
    closing = re.compile(r"serving app on .* \((\w+); workers: 1; `(.+)` shows them")
    said = wait_until(lambda: closing.search(g.output()), 150)
    build, command = said.groups()
    assert build == purity.build_name()
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "app: 1 of 1 workers ready" in done.stdout
    assert "Errno" not in g.output()


async def test_status_shows_the_pids_of_the_workers(gateway):
    """`status` shows the pids of the workers, also after another agent has adopted them."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready(2)
    assert shown_pids(g) == g.worker_pids()
    [agent] = g.children("agent")
    agent.kill()
    await g.until(lambda told: all(one.handle for one in told.workers) and told.ready == 2)
    assert shown_pids(g) == g.worker_pids()


def shown_pids(gateway: Gateway) -> set[int]:
    lines = gateway.cli("status").stdout.splitlines()
    return {int(line.split()[1]) for line in lines if line.startswith("steelyard-app-")}
