"""Orphans of workers become children of a separate program, without control groups."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from steelyard.runtime.worker import DAEMON
from tests.runtime.conftest import alive
from tests.runtime.test_containment import escape

PROGRAM = """
import asyncio, json, random, subprocess, sys
from pathlib import Path
from steelyard.config import settings
from steelyard.runtime.process import ProcessRuntime
from tests.ports import WORKERS
from tests.runtime.conftest import alive, next_exit, printed

async def main(folder, command, stopped, *names):
    own = subprocess.Popen(["sleep", "1000"])
    runtime = ProcessRuntime(
        settings.Application(command=tuple(json.loads(command))),
        settings.Runtime(ports=WORKERS), Path(folder), random.Random(),
        cgroups=Path(folder) / "none", alone=True,
    )
    await runtime.open()
    daemons, ends, states = [], [], []
    for name in names:
        await runtime.start(name)
        daemons += map(int, await printed(runtime, name))
    for name in names:
        if stopped == "stopped":
            await runtime.stop(name, 0.1)
        ends.append((await next_exit(runtime)).reason)
        states.append([alive(daemon) for daemon in daemons])
    await runtime.close()
    print(json.dumps([daemons, ends, states, own.poll()]))
    own.kill()
    own.wait()

asyncio.run(main(*sys.argv[1:]))
"""


def played(folder: Path, command: tuple[str, ...], ending: str, *names: str) -> list[list[object]]:
    """The daemons, the end of each worker, the daemons alive then, and a child of no worker."""
    words = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(command), ending, *names]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


async def test_a_daemon_without_our_mark_ends_with_its_worker(tmp_path: Path) -> None:
    """The daemon becomes a child of the agent, which has not started it itself."""
    command = escape("os._exit(0)")
    told = await asyncio.to_thread(played, tmp_path, command, "by itself", "one")
    [daemon], [reason], _, own = told
    assert not alive(daemon)
    assert reason == "exit code 0" + DAEMON
    assert own is None


async def test_an_orphan_lives_as_long_as_a_worker_that_may_have_left_it(tmp_path: Path) -> None:
    """Nobody can tell which worker left an orphan, so it lives until none is left that could."""
    command = escape("time.sleep(1000)")
    told = await asyncio.to_thread(played, tmp_path, command, "stopped", "one", "two")
    daemons, _, states, own = told
    assert len(daemons) == 2
    assert states == [[False, True], [False, False]]
    assert own is None
