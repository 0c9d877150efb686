"""`status`, `scale` and `drain`, typed for a real agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from steelyard.cli.main import build_app
from steelyard.errors import UsageError
from tests.agent.conftest import TOKEN, Served, served

__all__ = ["served"]  # the fixture
Steer = Callable[..., Awaitable[Result]]


@pytest.fixture
def steer(served: Served, tmp_path: Path) -> Steer:
    """Types a command for the agent."""
    (tmp_path / "token").write_text(TOKEN)

    async def run(command: str, *words: str) -> Result:
        where = ["--agent", f"127.0.0.1:{served.port}", "--state", str(tmp_path)]
        app = build_app()
        return await asyncio.to_thread(CliRunner().invoke, app, [command, *where, *words])

    return run


async def test_a_worker_is_drained_by_a_part_of_its_name(served: Served, steer: Steer) -> None:
    """A program gets the status as JSON, a person as a table with the decision."""
    first, second = served.boot()
    told = json.loads((await steer("drain", first[-8:], "--json")).stdout)
    assert {one["name"]: one["state"] for one in told["workers"]}[first] == "SUNDOWN"
    assert "drain" in [one["action"] for one in told["decisions"]]
    refused = await steer("drain", second)
    assert "is the only worker that is ready" in str(refused.exception)


async def test_a_drain_is_shown(served: Served, steer: Steer) -> None:
    """The table has both workers, and says who asked."""
    first, second = served.boot()
    shown = (await steer("drain", first)).stdout
    assert first in shown
    assert second in shown
    assert "asked for by an operator" in shown


async def test_limits_are_set_and_reset(served: Served, steer: Steer) -> None:
    """As a number, as one end of the range, and back to what is configured."""
    served.boot()
    told = json.loads((await steer("scale", "3", "--json")).stdout)
    assert (told["min"], told["max"]) == (3, 3)
    shown = (await steer("scale", "--max", "4")).stdout
    assert "3…4 (set at run time; configured 2…4) allowed" in shown
    shown = (await steer("scale", "--reset")).stdout
    assert "2…4 allowed" in shown
    error = (await steer("scale", "--min", "5")).exception
    assert isinstance(error, UsageError)
    assert error.message == "min 5 would be above max 4"
