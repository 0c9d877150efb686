"""Gateways for tests; whatever a test does, nothing that it started survives the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.containers import KINDS
from tests.e2e.gateway import Gateway

Factory = Callable[..., Gateway]


@pytest.fixture
def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Factory]:
    """Makes gateways that share one state folder; by default their workers are processes."""
    runtime = getattr(request, "param", "process")
    engines = [] if runtime == "process" else [request.getfixturevalue(runtime)]
    made: list[Gateway] = []

    def make(*flags: str, **kwargs) -> Gateway:
        made.append(KINDS[runtime](*engines, tmp_path / "state", *flags, **kwargs))
        return made[-1]

    yield make
    for one in made:  # all gateways end before the first worker does, as they would replace it
        one.halt()
    for one in made:
        one.destroy()
