"""What every test may ask for."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

import steelyard
from steelyard.bench.tools import find
from steelyard.purity import is_built, is_compiled
from tests.docker.engine import (
    Engine,
    EngineFailedError,
    KernelLacksError,
    can_start,
    private_engine,
)
from tests.docker.swarm import Swarm, can_join, private_nodes
from tests.ports import WORKERS
from tests.redis_server import RedisServer

T = TypeVar("T")
# A time limit per example would fail on a busy machine, not on a bug.
settings.register_profile("steelyard", deadline=None)
settings.load_profile("steelyard")


def _cgroup_writable() -> bool:
    return any(os.access(Path("/sys/fs/cgroup") / sub, os.W_OK) for sub in ("", "memory"))


# What a test may need beyond Python, and how to see whether it is there.
THINGS: dict[str, Callable[[], bool]] = {
    "cgroup": _cgroup_writable,
    "compiled": is_built,
    "docker": can_start,
    "swarm": can_join,
    "curl": lambda: shutil.which("curl") is not None,
    "ip": lambda: shutil.which("ip") is not None,
    "openssl": lambda: shutil.which("openssl") is not None,
    "nginx": lambda: find("nginx") is not None,
    "redis": lambda: shutil.which("redis-server") is not None,
    "slowhttptest": lambda: shutil.which("slowhttptest") is not None,
    "wrk": lambda: find("wrk") is not None,
}


def pytest_configure(config: pytest.Config) -> None:
    """Every worker that tests start has a port of this process's share."""
    os.environ["STEELYARD_RUNTIME_PORTS"] = "{}-{}".format(*WORKERS)
    if is_compiled() and not hasattr(config, "workerinput"):  # once, however many processes
        _refuse_stale()


def _refuse_stale() -> None:
    """Extension modules older than their source would be what is tested instead of it."""
    for built in Path(steelyard.__file__).parent.rglob("*.so"):
        stem = built.with_name(built.name.partition(".")[0])
        source = (
            stem.with_suffix(".pyx")
            if stem.with_suffix(".pyx").exists()
            else stem.with_suffix(".py")
        )
        declared = stem.with_suffix(".pxd")
        if max(source.stat().st_mtime, declared.stat().st_mtime) > built.stat().st_mtime:
            pytest.exit(f"{stem.name} was changed since it was compiled: `make build`", 2)


@pytest.fixture(scope="session")
def redis_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """The server that tests share which only need one."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_server(redis_session: RedisServer) -> RedisServer:
    """A server with nothing in it."""
    redis_session.ask("FLUSHALL")
    return redis_session


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever needs the engine runs in one process, since there is one; so with the swarm."""
    for item in items:
        needs = {mark.args[0] for mark in item.iter_markers("needs")}
        for thing in ("docker", "swarm"):
            if thing in needs:
                item.add_marker(pytest.mark.xdist_group(thing))
                break


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip visibly what the machine lacks; in CI that is a failure: nothing is skipped there."""
    for mark in item.iter_markers("needs"):
        thing = mark.args[0]
        if THINGS[thing]():
            continue
        message = f"needs {thing}, which this machine lacks"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="session")
def private_docker() -> Iterator[Engine]:
    """An engine of our own, for as long as there are tests."""
    with started(private_engine) as engine:
        yield engine


@contextlib.contextmanager
def started(make: Callable[[], contextlib.AbstractContextManager[T]]) -> Iterator[T]:
    """Have it, or skip with its last words: a machine may have an engine and not let it run.

    In CI that is a failure, unless it is the kernel that does not let it.
    """
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(make())
        except EngineFailedError as failure:
            if os.environ.get("CI") == "true" and not isinstance(failure, KernelLacksError):
                raise
            pytest.skip(f"no Docker engine runs here: {failure}")
        yield made


@pytest.fixture(scope="session")
def private_swarm() -> Iterator[Swarm]:
    """A swarm of one node, for as long as there are tests."""
    with started(lambda: private_nodes(1)) as swarm:
        yield swarm


@pytest.fixture
def swarm(private_swarm: Swarm, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swarm]:
    with borrowed(private_swarm, monkeypatch):
        yield private_swarm


@contextlib.contextmanager
def borrowed(swarm: Swarm, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A swarm as everybody's; afterwards there is on it what there was before."""
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.url)
    before = swarm.things()
    yield
    assert swarm.settled(before) == before


@pytest.fixture
def docker(private_docker: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """That engine as everybody's; after the test there is on it what there was before."""
    monkeypatch.setenv("DOCKER_HOST", private_docker.url)
    before = private_docker.things()
    yield private_docker
    assert private_docker.things() == before
