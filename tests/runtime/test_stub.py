"""The stub runtime does what the test says."""

from __future__ import annotations

import pytest

from steelyard.core.usage import Sample
from steelyard.errors import StartError
from steelyard.runtime.base import Exit
from steelyard.runtime.stub import StubRuntime


@pytest.fixture
async def runtime() -> StubRuntime:
    found = StubRuntime(clock=lambda: 12.5)
    await found.open()
    return found


async def test_ports_are_the_same_in_every_run(runtime: StubRuntime) -> None:
    """Ports count up from the first, and are not used again."""
    await runtime.start("one")
    await runtime.stop("one", 1)
    assert [(await runtime.start(name)).port for name in ("two", "three")] == [21001, 21002]


async def test_scripted_death(runtime: StubRuntime) -> None:
    """A worker dies when and how it is told to."""
    await runtime.start("one")
    runtime.die("one", "exit code 42")
    assert await anext(aiter(runtime.exits())) == Exit("one", "exit code 42")
    assert await runtime.running() == []


async def test_scripted_sample(runtime: StubRuntime) -> None:
    """A sample that was set is returned each time, with the time of reading."""
    await runtime.start("one")
    runtime.set_sample("one", Sample(at=0, cpu_seconds=3, memory=4, network_bytes=5))
    expected = {"one": Sample(at=12.5, cpu_seconds=3, memory=4, network_bytes=5)}
    assert await runtime.sample() == await runtime.sample() == expected


async def test_scripted_failures(runtime: StubRuntime) -> None:
    """As many starts fail as were set to, each with its reason, and the next one works."""
    runtime.fail_next_start("no memory")
    runtime.fail_next_start("no port")
    for reason in ("no memory", "no port"):
        with pytest.raises(StartError, match=reason):
            await runtime.start("one")
    assert (await runtime.start("one")).name == "one"


async def test_scripted_log(runtime: StubRuntime) -> None:
    """A worker prints what it is told to."""
    await runtime.start("one")
    runtime.write_log("one", "hello")
    assert await runtime.logs("one", 1) == "hello\n"
