"""Proxies for tests, which end with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.balancer.stage import ScriptedWorker, always
from tests.supervisor.proxy import Proxy


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Callable[..., Proxy]]:
    """Makes proxies; they are not started."""
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
    """One that answers everything."""
    made = ScriptedWorker(always())
    yield made
    made.close()
