"""Fixtures and hooks for all tests."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

import steelyard
from steelyard.bench.tools import find
from steelyard.purity import is_built, is_compiled
from tests import reaper
from tests.compose.project import compose_command
from tests.docker.engine import Engine, can_start, private_engine
from tests.docker.host import EngineFailedError
from tests.docker.swarm import Swarm, private_nodes
from tests.lacking import lacking
from tests.mesh.hosts import possible
from tests.ports import WORKERS
from tests.redis_server import RedisServer

T = TypeVar("T")
EMPTY_NETWORK = ("unshare", "--net") if os.geteuid() == 0 else ("unshare", "-r", "--net")
# A time limit per example would fail on a busy machine, not because of a bug.
settings.register_profile("steelyard", deadline=None)
settings.load_profile("steelyard")


def _cgroup_writable() -> bool:
    return any(os.access(Path("/sys/fs/cgroup") / sub, os.W_OK) for sub in ("", "memory"))


@functools.cache
def may_unshare() -> bool:
    """Whether this machine lets a process have an empty network of its own."""
    words = [*EMPTY_NETWORK, "true"]
    return shutil.which("unshare") is not None and subprocess.run(words).returncode == 0


# What a test may need besides Python, each with a check whether it is there.
THINGS: dict[str, Callable[[], bool]] = {
    "cgroup": _cgroup_writable,
    "compiled": is_built,
    "docker": can_start,
    "swarm": can_start,
    "docker command": lambda: shutil.which("docker") is not None,
    "compose": lambda: bool(compose_command()),
    "curl": lambda: shutil.which("curl") is not None,
    "namespaces": possible,
    "unshare": may_unshare,
    "ip": lambda: shutil.which("ip") is not None,
    "openssl": lambda: shutil.which("openssl") is not None,
    "nginx": lambda: find("nginx") is not None,
    "root": lambda: os.geteuid() == 0,
    "redis": lambda: shutil.which("redis-server") is not None,
    "slowhttptest": lambda: shutil.which("slowhttptest") is not None,
    "valgrind": lambda: shutil.which("valgrind") is not None,
    "wrk": lambda: find("wrk") is not None,
}


def pytest_configure(config: pytest.Config) -> None:
    """Start the reaper, which ends all processes of the tests, and set this process's ports."""
    reaper.folder()
    os.environ["STEELYARD_RUNTIME_PORTS"] = "{}-{}".format(*WORKERS)
    # once, however many processes run tests
    if is_compiled() and not hasattr(config, "workerinput"):
        _refuse_stale()


def _refuse_stale() -> None:
    """Refuse extension modules that are older than their source, which would not be tested.

    Modules of another Python may lie beside ours, of whatever age; this Python does not load them.
    """
    for built in Path(steelyard.__file__).parent.rglob(f"*{EXTENSION_SUFFIXES[0]}"):
        stem = built.with_name(built.name.partition(".")[0])
        source = (
            stem.with_suffix(".pyx")
            if stem.with_suffix(".pyx").exists()
            else stem.with_suffix(".py")
        )
        declared = stem.with_suffix(".pxd")
        if not declared.exists():
            pytest.exit(f"{built.name} has no source any more: `make build` removes it", 2)
        if max(source.stat().st_mtime, declared.stat().st_mtime) > built.stat().st_mtime:
            pytest.exit(f"{stem.name} was changed since it was compiled: `make build`", 2)


@pytest.fixture(scope="session")
def redis_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A server shared by tests that need nothing but a server."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_server(redis_session: RedisServer) -> RedisServer:
    """A server with nothing in it."""
    redis_session.ask("FLUSHALL")
    return redis_session


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of the one engine in one process, and those of the swarm in one, too."""
    for item in items:
        needs = {mark.args[0] for mark in item.iter_markers("needs")}
        for thing in ("docker", "swarm"):
            if thing in needs:
                item.add_marker(pytest.mark.xdist_group(thing))
                break


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test if the machine lacks something; in CI that is a failure."""
    for mark in item.iter_markers("needs"):
        thing = mark.args[0]
        if THINGS[thing]():
            continue
        lacking(f"needs {thing}, which this machine lacks")


@pytest.fixture(scope="session")
def private_docker() -> Iterator[Engine]:
    """An engine of our own, for all tests of this process."""
    with started(private_engine) as engine:
        yield engine


@contextlib.contextmanager
def started(make: Callable[[], contextlib.AbstractContextManager[T]]) -> Iterator[T]:
    """Make an engine, or skip the test with its log: some machines do not let an engine run.

    In CI that is a failure, even if the kernel is the reason: nothing is skipped there.
    """
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(make())
        except EngineFailedError as failure:
            lacking(f"no Docker engine runs here: {failure}")
        yield made


@pytest.fixture(scope="session")
def private_swarm() -> Iterator[Swarm]:
    """A swarm of one node, for all tests of this process."""
    with started(lambda: private_nodes(1)) as swarm:
        yield swarm


@pytest.fixture
def swarm(private_swarm: Swarm, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swarm]:
    with borrowed(private_swarm, monkeypatch):
        yield private_swarm


@contextlib.contextmanager
def borrowed(swarm: Swarm, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the swarm $DOCKER_HOST; afterwards, check that nothing was left on it."""
    monkeypatch.setenv("DOCKER_HOST", swarm.manager.url)
    before = swarm.things()
    yield
    assert swarm.settled(before) == before


@pytest.fixture
def docker(private_docker: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The private engine as $DOCKER_HOST; after the test, check that nothing was left on it.

    The test runs in the engine's network, where published ports and containers are reached.
    """
    monkeypatch.setenv("DOCKER_HOST", private_docker.url)
    before = private_docker.things()
    with private_docker.network.entered():
        yield private_docker
    assert private_docker.things() == before
