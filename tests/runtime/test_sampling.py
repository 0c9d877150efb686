"""Counters of real processes; the tests wait for values that a busy machine reaches, too."""

from __future__ import annotations

import os

from steelyard.core.usage import Sample
from steelyard.runtime.process import ProcessRuntime
from steelyard.runtime.procfs import PROC, Process
from steelyard.runtime.sampling import sample_workers
from tests.runtime.conftest import Make, printed, python, shell
from tests.waiting import until

MEGA = 2**20
FILL = "block = bytearray(64 << 20)\nfor i in range(0, len(block), 4096): block[i] = 1\n"
SPIN = "while True: pass"


async def sample_when(runtime: ProcessRuntime, name: str, field: str, least: float) -> Sample:
    """The worker's sample, as soon as the counter has reached a value."""

    async def look() -> Sample | None:
        sample = (await runtime.sample())[name]
        return sample if getattr(sample, field) >= least else None

    found = await until(look)
    assert found is not None
    return found


async def test_busy_worker_uses_cpu(make: Make) -> None:
    """The CPU time of a busy loop grows; that of a sleeper beside it does not."""
    runtime = await make(
        *shell('[ "$STEELYARD_WORKER" = idle ] && exec sleep 1000; exec "$@"'), "sh", *python(SPIN)
    )
    await runtime.start("idle")
    await runtime.start("busy")
    before = (await runtime.sample())["busy"]
    after = await sample_when(runtime, "busy", "cpu_seconds", before.cpu_seconds + 0.2)
    assert after.at > before.at
    assert (await runtime.sample())["idle"].cpu_seconds < 0.1
    assert after.network_bytes is None


async def test_cpu_of_children_counts(make: Make) -> None:
    """A worker's CPU time includes that of a child, even after the child has ended."""
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    runtime = await make(*shell('"$@" & wait; echo burnt; exec sleep 1000'), "sh", *python(burn))
    await runtime.start("one")
    during = await sample_when(runtime, "one", "cpu_seconds", 0.1)
    assert during.cpu_seconds > 0
    await printed(runtime, "one")
    assert (await runtime.sample())["one"].cpu_seconds >= 0.25


async def test_child_that_left_the_session_counts(make: Make) -> None:
    """A descendant counts even in a session of its own."""
    runtime = await make(*shell('setsid "$@" & wait'), "sh", *python(SPIN))
    await runtime.start("one")
    await sample_when(runtime, "one", "cpu_seconds", 0.2)


async def test_waiting_for_a_core_counts(make: Make) -> None:
    """Two busy loops on one core wait for each other, and the counters show that."""
    core = min(os.sched_getaffinity(0))
    runtime = await make(*python(f"import os\nos.sched_setaffinity(0, {{{core}}})\n{SPIN}"))
    await runtime.start("one")
    await runtime.start("two")
    await sample_when(runtime, "one", "cpu_wait_seconds", 0.1)
    await sample_when(runtime, "two", "cpu_wait_seconds", 0.1)


async def test_waiting_of_every_thread_counts(make: Make) -> None:
    """Threads that wait for a core count although the main thread sleeps."""
    core = min(os.sched_getaffinity(0))
    hog = f"import os\nos.sched_setaffinity(0, {{{core}}})\n{SPIN}"
    threads = f"import threading, os, zlib\nos.sched_setaffinity(0, {{{core}}})\n"
    threads += "def spin():\n    while True: zlib.crc32(bytes(10**6))\n"  # without the GIL
    threads += "threading.Thread(target=spin).start()\nthreading.Event().wait()"
    runtime = await make(
        *shell('[ "$STEELYARD_WORKER" = hog ] && exec "$1" -c "$2"; exec "$1" -c "$3"'),
        "sh",
        python("")[0],
        hog,
        threads,
    )
    await runtime.start("hog")
    await runtime.start("one")
    await sample_when(runtime, "one", "cpu_wait_seconds", 0.3)


async def test_memory_that_was_touched_counts(make: Make) -> None:
    """Memory is what the worker filled, without the files that it mapped."""
    runtime = await make(*python(f"{FILL}print('full', flush=True)\nimport time; time.sleep(1000)"))
    await runtime.start("one")
    await printed(runtime, "one")
    assert 64 * MEGA <= (await runtime.sample())["one"].memory < 100 * MEGA


async def test_memory_shared_with_children_counts_once(make: Make) -> None:
    """Pages that forked children share with their parent are counted once."""
    fork = f"import os, time\n{FILL}for _ in range(3):\n    if os.fork() == 0: break\n"
    fork += "print('full', flush=True)\ntime.sleep(1000)"
    runtime = await make(*python(fork))
    await runtime.start("one")
    await printed(runtime, "one", 4)
    assert 64 * MEGA <= (await runtime.sample())["one"].memory < 120 * MEGA


def test_vanished_worker_is_left_out() -> None:
    """A worker that has ended, or whose pid was reused, has no sample."""
    highest = int((PROC / "sys/kernel/pid_max").read_text())
    workers = {"gone": Process(highest, 1), "reused": Process(os.getpid(), 1)}
    assert sample_workers(workers, lambda: 0.0) == {}
