"""Gateways for tests; whatever a test does, nothing it started survives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.containers import KINDS
from tests.e2e.gateway import Gateway

Factory = Callable[..., Gateway]


@pytest.fixture
def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Factory]:
    """Makes gateways that share one state folder; with processes, unless told otherwise."""
    runtime = getattr(request, "param", "process")
    engines = [] if runtime == "process" else [request.getfixturevalue(runtime)]
    made: list[Gateway] = []

    def make(*flags: str, **kwargs) -> Gateway:
        made.append(KINDS[runtime](*engines, tmp_path / "state", *flags, **kwargs))
        return made[-1]

    yield make
    for one in made:  # all of them before the first worker, which they would replace
        one.halt()
    for one in made:
        one.destroy()
