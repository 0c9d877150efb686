"""What every test may ask for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import steelyard
from steelyard.bench.tools import find
from steelyard.purity import is_compiled
from tests.docker.engine import Engine, can_start, private_engine

# A time limit per example would fail on a busy machine, not on a bug.
settings.register_profile("steelyard", deadline=None)
settings.load_profile("steelyard")


def _cgroup_writable() -> bool:
    return any(os.access(Path("/sys/fs/cgroup") / sub, os.W_OK) for sub in ("", "memory"))


# What a test may need beyond Python, and how to see whether it is there.
THINGS: dict[str, Callable[[], bool]] = {
    "cgroup": _cgroup_writable,
    "docker": can_start,
    "curl": lambda: shutil.which("curl") is not None,
    "openssl": lambda: shutil.which("openssl") is not None,
    "nginx": lambda: find("nginx") is not None,
    "slowhttptest": lambda: shutil.which("slowhttptest") is not None,
    "wrk": lambda: find("wrk") is not None,
}


def pytest_configure(config: pytest.Config) -> None:
    """Extension modules older than their source would be what is tested instead of it."""
    if not is_compiled():
        return
    for built in Path(steelyard.__file__).parent.rglob("*.so"):
        stem = built.with_name(built.name.partition(".")[0])
        sources = [stem.with_suffix(end) for end in (".py", ".pyx", ".pxd")]
        if any(src.exists() and src.stat().st_mtime > built.stat().st_mtime for src in sources):
            pytest.exit(f"{stem.name} was changed since it was compiled: `make build`", 2)


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
    with private_engine() as engine:
        yield engine


@pytest.fixture
def docker(private_docker: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """That engine as everybody's; after the test there is on it what there was before."""
    monkeypatch.setenv("DOCKER_HOST", private_docker.url)
    before = private_docker.things()
    yield private_docker
    assert private_docker.things() == before
