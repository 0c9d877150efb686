"""The contract that every runtime must keep; tests/contract/runtimes.py lists the runtimes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from steelyard.errors import StartError, UsageError
from steelyard.runtime.base import Exit, Runtime
from tests.contract.runtimes import NEEDS, RUNTIMES, Bench, kill_marked
from tests.waiting import until

GRACE = 60.0  # seconds; ample: a stop that needs it fails by the suite's own time limit


def needing(kind: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.needs(NEEDS[kind])] if kind in NEEDS else []


@pytest.fixture(params=[pytest.param(kind, marks=needing(kind)) for kind in RUNTIMES])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    """A machine that has no workers before and after the test."""
    engines = [request.getfixturevalue(NEEDS[kind]) for kind in [request.param] if kind in NEEDS]
    found = RUNTIMES[request.param](tmp_path, *engines)
    yield found
    try:
        sweeper = found.runtime()
        await sweeper.open()
        left = await sweeper.running()
        await asyncio.gather(*(sweeper.stop(worker.name, 0) for worker in left))
        await sweeper.close()
    finally:
        kill_marked(tmp_path)


@pytest.fixture
async def runtime(bench: Bench) -> AsyncIterator[Runtime]:
    """An open runtime."""
    found = bench.runtime()
    await found.open()
    yield found
    await found.close()


async def next_exit(runtime: Runtime) -> Exit:
    """Wait for the next end of a worker."""
    return await anext(aiter(runtime.exits()))


async def names(runtime: Runtime) -> list[str]:
    """The names of the workers that run."""
    return sorted(worker.name for worker in await runtime.running())


async def log_with(runtime: Runtime, name: str, text: str) -> str:
    """The worker's log, as soon as the text is in it."""

    async def look() -> str:
        log = await runtime.logs(name, 10)
        return log if text in log else ""

    return await until(look)


async def test_started_worker_runs(bench: Bench, runtime: Runtime) -> None:
    """`running` lists the workers that `start` returned."""
    one = await runtime.start("one")
    two = await runtime.start("two")
    assert (one.name, one.host) == ("one", bench.host)
    assert sorted(await runtime.running(), key=lambda worker: worker.name) == [one, two]


async def test_workers_differ_in_port_and_handle(runtime: Runtime) -> None:
    """No two workers share a port or a handle."""
    workers = await asyncio.gather(*(runtime.start(f"w{number}") for number in range(5)))
    assert len({worker.port for worker in workers}) == 5
    assert len({worker.handle for worker in workers}) == 5


async def test_name_is_used_once_at_a_time(runtime: Runtime) -> None:
    """A second worker of a name is refused while the first runs, and accepted after it."""
    await runtime.start("one")
    with pytest.raises(StartError, match="one"):
        await runtime.start("one")
    await runtime.stop("one", GRACE)
    await runtime.start("one")
    assert await names(runtime) == ["one"]


@pytest.mark.parametrize("grace", [0, GRACE])
async def test_stopped_worker_is_gone(runtime: Runtime, grace: float) -> None:
    """After a stop only the others run, and the end is reported with its reason."""
    await runtime.start("one")
    await runtime.start("two")
    await runtime.stop("one", grace)
    assert await names(runtime) == ["two"]
    told = await next_exit(runtime)
    assert told.name == "one"
    assert told.reason


async def test_stop_of_unknown_name_is_done(runtime: Runtime) -> None:
    """Stopping a name that does not run does nothing, and reports no end."""
    await runtime.stop("never", GRACE)
    await runtime.start("one")
    await runtime.stop("one", 0)
    await runtime.stop("one", 0)
    assert (await next_exit(runtime)).name == "one"


async def test_each_end_is_told_once(bench: Bench, runtime: Runtime) -> None:
    """Each end is reported once, whether it was asked for or not, until the runtime is closed."""
    workers = await asyncio.gather(*(runtime.start(f"w{number}") for number in range(4)))
    bench.kill(workers[0])
    bench.kill(workers[1])
    await asyncio.gather(*(runtime.stop(worker.name, GRACE) for worker in workers))
    await runtime.running()
    other = bench.runtime()
    await other.open()
    await other.close()
    told = [await next_exit(runtime) for _ in workers]
    assert sorted(one.name for one in told) == ["w0", "w1", "w2", "w3"]
    await runtime.start("last")
    await runtime.stop("last", 0)
    assert (await next_exit(runtime)).name == "last"


async def test_exits_end_with_the_runtime(bench: Bench) -> None:
    """Closing ends the stream of exits, so that its reader ends, too."""
    runtime = bench.runtime()
    await runtime.open()
    reader = asyncio.create_task(anext(aiter(runtime.exits()), None))
    await runtime.close()
    assert await reader is None


async def test_killed_worker_is_told(bench: Bench, runtime: Runtime) -> None:
    """The end of a worker that was killed is reported with its reason."""
    worker = await runtime.start("one")
    bench.kill(worker)
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL")
    assert await names(runtime) == []


async def test_logs_last_lines(bench: Bench, runtime: Runtime) -> None:
    """The last lines of a log can be read, also after the worker's end."""
    worker = await runtime.start("one")
    log = await log_with(runtime, "one", bench.printed(worker))
    await runtime.stop("one", 0)
    last = await runtime.logs("one", 1)
    assert log.splitlines(keepends=True)[-1:] == [last]
    assert bench.printed(worker) in last
    assert await runtime.logs("one", 0) == ""


async def test_logs_of_unknown_name(runtime: Runtime) -> None:
    """A worker that never was has no log."""
    with pytest.raises(UsageError, match="never"):
        await runtime.logs("never", 10)


def everything(line: str) -> bool:
    return True


async def test_lines_are_followed_to_the_end(bench: Bench, runtime: Runtime) -> None:
    """Each line comes once, including earlier ones, and the stream ends with the worker."""
    worker = await runtime.start("one")
    followed = []
    ended = []
    async for line in runtime.lines("one", None, everything, follow=True):
        followed.append(line.text)
        if bench.printed(worker) in line.text:
            ended.append(asyncio.create_task(runtime.stop("one", 0)))
    assert len(ended) == 1
    await ended[0]
    kept = [line.text async for line in runtime.lines("one", 10, everything, follow=False)]
    assert followed == kept == (await runtime.logs("one", 10)).splitlines()


async def test_the_last_lines_that_are_shown_are_counted(bench: Bench, runtime: Runtime) -> None:
    """A line that is not shown does not count among the last lines."""
    worker = await runtime.start("one")
    printed = bench.printed(worker)
    await log_with(runtime, "one", printed)
    runtime_lines = runtime.lines("one", 1, lambda line: printed not in line, follow=False)
    before = [line.text async for line in runtime_lines]
    every = (await runtime.logs("one", 10)).splitlines()
    assert before == [line for line in every if printed not in line][-1:]


async def test_sample_has_all_that_run(runtime: Runtime) -> None:
    """Each running worker has counters that do not decrease; one that ended has none."""
    await runtime.start("one")
    await runtime.start("two")
    before = await runtime.sample()
    after = await runtime.sample()
    assert sorted(before) == sorted(after) == ["one", "two"]
    for name, sample in after.items():
        assert sample.at >= before[name].at
        assert sample.cpu_seconds >= before[name].cpu_seconds >= 0
        assert sample.memory >= 0
    await runtime.stop("one", 0)
    assert sorted(await runtime.sample()) == ["two"]


async def test_starts_and_stops_at_the_same_time(runtime: Runtime) -> None:
    """Starting, stopping, listing and sampling at the same time lose nothing."""
    await asyncio.gather(*(runtime.start(f"old{number}") for number in range(4)))
    await asyncio.gather(
        *(runtime.start(f"new{number}") for number in range(4)),
        *(runtime.stop(f"old{number}", GRACE) for number in range(4)),
        *(runtime.stop(f"old{number}", 0) for number in range(4)),
        *(runtime.running() for _ in range(4)),
        *(runtime.sample() for _ in range(4)),
    )
    assert await names(runtime) == ["new0", "new1", "new2", "new3"]
    told = sorted([(await next_exit(runtime)).name for _ in range(4)])
    assert told == ["old0", "old1", "old2", "old3"]


async def test_workers_outlive_a_closed_runtime(bench: Bench) -> None:
    """Workers outlive a closed runtime, and the next one finds them just as they were."""
    first = bench.runtime()
    await first.open()
    started = [await first.start("one"), await first.start("two")]
    await first.close()
    second = bench.runtime()
    await second.open()
    assert sorted(await second.running(), key=lambda worker: worker.name) == started
    await second.close()


async def test_workers_of_a_killed_agent_are_adopted(bench: Bench) -> None:
    """After kill -9 of the agent, a new one finds, samples, watches and stops its workers."""
    await bench.orphans(["one", "two", "three"])
    runtime = bench.runtime()
    await runtime.open()
    assert await names(runtime) == ["one", "three", "two"]
    assert sorted(await runtime.sample()) == ["one", "three", "two"]
    one, three, two = sorted(await runtime.running(), key=lambda worker: worker.name)
    bench.kill(one)
    assert (await next_exit(runtime)).name == "one"
    await runtime.stop("two", GRACE)
    assert (await next_exit(runtime)).name == "two"
    assert await runtime.running() == [three]
    assert await log_with(runtime, "two", bench.printed(two))
    new = await runtime.start("four")
    assert new.port != three.port
    await runtime.close()
