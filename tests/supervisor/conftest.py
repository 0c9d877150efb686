"""Fixtures: proxies that end with their test, and a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.balancer.stage import ScriptedWorker, always
from tests.supervisor.proxy import Proxy


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Callable[..., Proxy]]:
    """A function that makes proxies, which are not started."""
    made: list[Proxy] = []

    def make(*workers: int, **gateway: object) -> Proxy:
        made.append(Proxy(tmp_path, list(workers), **gateway))
        return made[-1]

    yield make
    for one in made:
        if hasattr(one, "process"):
            one.close()


@pytest.fixture
def worker() -> Iterator[ScriptedWorker]:
    """A worker that answers every request."""
    made = ScriptedWorker(always())
    yield made
    made.close()
