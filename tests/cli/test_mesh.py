"""Wrong wishes about the mesh are told before anything is joined."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import build_app
from steelyard.errors import SteelyardError

JOIN = ("--join", "tcp/127.0.0.1:1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("worker", "no_such_module"), "there is no module no_such_module"),
        (("worker", "math:sqrt", "--listen", "nonsense"), "“nonsense” is not an endpoint"),
        (("worker", "math:sqrt", "--listen", "tcp/0.0.0.0:0"), "neither on loopback nor encrypted"),
        (("run", "math:sqrt", "no-such-file", *JOIN), "no-such-file: No such file"),
        (("status", "--certs", "no-such-folder", *JOIN), "no-such-folder is not a folder"),
        (("run", "math:sqrt", "no-such-file"), "it is not said where the mesh is"),
        (("status",), "it is not said where the mesh is"),
    ],
)
def test_wrong_wishes_are_told(words: tuple[str, ...], told: str) -> None:
    """What it is, and what to do."""
    error = CliRunner().invoke(build_app(), ["mesh", *words]).exception
    assert isinstance(error, SteelyardError)
    assert told in error.message
    assert error.hint


@pytest.mark.parametrize("way", [("--listen", "tcp/127.0.0.1:0"), ("--multicast",)])
def test_there_are_ways_to_a_mesh_without_join(way: tuple[str, ...]) -> None:
    """Nodes may join a client that listens, or find it."""
    words = ["mesh", "run", "math:sqrt", "no-such-file", *way]
    assert "No such file" in str(CliRunner().invoke(build_app(), words).exception)
