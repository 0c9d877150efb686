"""Gateways for tests; whatever a test does, nothing it started survives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.gateway import Gateway

Factory = Callable[..., Gateway]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Factory]:
    """Makes gateways that share one state folder."""
    made: list[Gateway] = []

    def make(*flags: str, **kwargs) -> Gateway:
        made.append(Gateway(tmp_path / "state", *flags, **kwargs))
        return made[-1]

    yield make
    for one in made:
        one.destroy()
