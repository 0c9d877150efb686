"""The end of a local process, of which nothing is left."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from steelyard.runtime.base import Exit
from steelyard.runtime.procfs import read_stat
from steelyard.runtime.worker import DAEMON
from tests.runtime.conftest import Make, alive, next_exit, printed, python, shell

GRACE = 60.0  # ample: nothing here waits for it


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 0", "exit code 0"),
        ("exit 3", "exit code 3"),
        ("kill -TERM $$", "killed by SIGTERM"),
        ("kill -KILL $$", "killed by SIGKILL"),
        ("kill -40 $$", "killed by signal 40"),
    ],
)
async def test_reason_of_an_end(make: Make, script: str, reason: str) -> None:
    """The reason tells an exit code from a signal."""
    runtime = await make(*shell(script))
    await runtime.start("one")
    assert await next_exit(runtime) == Exit("one", reason)


async def test_no_zombie_is_left(make: Make) -> None:
    """A worker that ended is reaped before its end is reported."""
    runtime = await make("true")
    pid = int((await runtime.start("one")).handle)
    await next_exit(runtime)
    assert read_stat(pid) is None


async def test_polite_worker_may_finish(make: Make) -> None:
    """SIGTERM comes first, and a worker that ends within the grace is not killed."""
    runtime = await make(
        *shell("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done")
    )
    await runtime.start("one")
    await printed(runtime, "one")
    await runtime.stop("one", GRACE)
    assert await next_exit(runtime) == Exit("one", "exit code 7")
    assert "bye" in await printed(runtime, "one", 2)


async def test_stubborn_worker_is_killed(make: Make) -> None:
    """A worker that ignores SIGTERM is killed after the grace."""
    runtime = await make(*shell("trap '' TERM; echo up; while :; do sleep 1000; done"))
    await runtime.start("one")
    await printed(runtime, "one")
    await runtime.stop("one", 0.1)
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL")


async def test_less_patient_stop_wins(make: Make) -> None:
    """A stop without grace ends a worker that another stop is still waiting for."""
    runtime = await make(*shell("trap '' TERM; echo up; while :; do sleep 1000; done"))
    await runtime.start("one")
    await printed(runtime, "one")
    patient = asyncio.create_task(runtime.stop("one", GRACE))
    await asyncio.sleep(0)
    await runtime.stop("one", 0)
    await patient
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL")


FAMILY = {
    "a child in the background": "sleep 1000 & echo $!; wait",
    "a grandchild": "sh -c 'sleep 1000 & echo $!; wait' & wait",
    "a child in a session of its own": "setsid sh -c 'echo $$; exec sleep 1000' & wait",
    "a child without our mark": "env -i sh -c 'echo $$; exec sleep 1000' & wait",
    "a child that ignores TERM": "sh -c 'trap \"\" TERM; echo $$; sleep 1000' & wait",
}


@pytest.mark.parametrize("script", FAMILY.values(), ids=FAMILY)
@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_children_end_with_the_worker(make: Make, script: str, ending: str) -> None:
    """No process that a worker started outlives it, whether it is stopped or its leader dies."""
    runtime = await make(*shell(script))
    worker = await runtime.start("one")
    child = int((await printed(runtime, "one"))[0])
    if ending == "stop":
        await runtime.stop("one", 0.1)
    else:
        os.kill(int(worker.handle), signal.SIGKILL)
    await next_exit(runtime)
    assert not alive(child)


async def test_child_of_a_stopped_shell_may_finish(make: Make) -> None:
    """A shell dies of SIGTERM at once; the server that it started still has the grace."""
    server = "import signal, sys, time\n"
    server += (
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.2), print('done'), sys.exit()))\n"
    )
    server += "print('up', flush=True)\nsignal.pause()"
    runtime = await make(*shell('"$@" & wait'), "sh", *python(server))
    await runtime.start("one")
    await printed(runtime, "one")
    await runtime.stop("one", GRACE)
    assert await printed(runtime, "one") == ["up", "done"]
    assert await next_exit(runtime) == Exit("one", "killed by SIGTERM")


async def test_command_that_goes_to_the_background_is_a_dead_worker(make: Make) -> None:
    """The worker is the leader: a daemon that outlives the leader is killed."""
    runtime = await make(*shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.1"))
    await runtime.start("one")
    assert await next_exit(runtime) == Exit("one", "exit code 0" + DAEMON)
    assert not alive(int((await printed(runtime, "one"))[0]))


# The program forks twice and leaves its session in between, as daemons do; it ends when the daemon
# has reported that it runs.
DAEMONISE = """
import os, time
there, say = os.pipe()
if os.fork():
    os.read(there, 1)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
os.write(say, b"!")
time.sleep(1000)
"""


async def test_a_command_that_becomes_a_daemon_is_told_to_stay(make: Make) -> None:
    """The daemon ends with its worker, and the reason says what to change."""
    runtime = await make(*python(DAEMONISE))
    await runtime.start("one")
    ended = await next_exit(runtime)
    [daemon] = await printed(runtime, "one")
    assert ended == Exit("one", "exit code 0" + DAEMON)
    assert not alive(int(daemon))
