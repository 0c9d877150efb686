"""Wrong options of the mesh commands are refused before anything is joined."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from steelyard.cli.main import build_app
from steelyard.cli.mesh_common import Where
from steelyard.cli.mesh_rules import BrokenModuleError
from steelyard.cli.mesh_status import _show
from steelyard.errors import SteelyardError, UsageError
from steelyard.mesh.join import Place
from steelyard.mesh.status import MeshStatus
from steelyard.mesh.transport.security import Security

JOIN = ("--join", "tcp/127.0.0.1:1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("worker", "no_such_module"), "there is no module no_such_module"),
        (("worker", "math:sqrt", "--listen", "nonsense"), "“nonsense” is not an endpoint"),
        (("worker", "math:sqrt", "--listen", "tcp/0.0.0.0:0"), "neither on loopback nor encrypted"),
        (("run", "math:sqrt", "no-such-file", *JOIN), "no-such-file: No such file"),
        (("status", "--certs", "no-such-folder", *JOIN), "no-such-folder is not a folder"),
        (("run", "math:sqrt", "no-such-file"), "no endpoint of the mesh is given"),
        (("run", "math", "no-such-file", *JOIN), "“math” is not the name of a function"),
        (("run", "math:sqrt", __file__, *JOIN, "--out", __file__), "is the file of the units"),
        (("status",), "no endpoint of the mesh is given"),
        (("status", "--member", "alpha", *JOIN), "--member needs --certs"),
        (("run", "math:sqrt", "/dev/null", "--weight", "0", *JOIN), "is not a weight"),
    ],
)
def test_wrong_wishes_are_told(words: tuple[str, ...], told: str) -> None:
    """The error says what is wrong and what to do."""
    error = CliRunner().invoke(build_app(), ["mesh", *words]).exception
    assert isinstance(error, SteelyardError)
    assert told in error.message
    assert error.hint


def test_a_place_is_what_the_options_say(tmp_path: Path) -> None:
    """Every option reaches the place that is made of them."""
    where = Where(["a:1"], ["b:2"], "tiles", tmp_path, True, True, ["alpha"], 7.0)
    security = Security.from_folder(tmp_path, ["alpha"])
    assert where.place() == Place(["a:1"], ["b:2"], "tiles", security, 7.0, True, True)


def test_status_shows_names_as_they_are() -> None:
    """Names are not taken for markup, and silent nodes are listed."""
    numbers = dict.fromkeys(("procs", "running", "waiting", "done", "seconds", "links"), 1)
    node = {**numbers, "name": "[red]", "clients": 0, "functions": ["m:f"], "leaving": True}
    client = {"name": "[b]", "weight": 1.0, "todo": 2, "inflight": 3, "done": 4, "duplicates": 0}
    console = Console(file=io.StringIO(), width=200)
    _show(console, MeshStatus([node], [{**client, "links": 5}], ["abc"]))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for words in ("[red]", "m:f (leaving)", "[b]", "abc did not answer"):
        assert words in shown


@pytest.mark.parametrize("way", [("--listen", "tcp/127.0.0.1:0"), ("--multicast",)])
def test_there_are_ways_to_a_mesh_without_join(way: tuple[str, ...]) -> None:
    """Nodes may join a client that listens, or find it by multicast."""
    words = ["mesh", "run", "math:sqrt", "no-such-file", *way]
    assert "No such file" in str(CliRunner().invoke(build_app(), words).exception)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("fx.py:sq", "write fx:sq"),
        ("./jobs/fx.py:sq", "write jobs.fx:sq"),
        ("/srv/jobs/fx.py:sq", "start in /srv/jobs, and write fx:sq"),
        ("../fx.py:sq", "start in .., and write fx:sq"),
    ],
)
@pytest.mark.parametrize("words", [("worker",), ("run", "units", *JOIN)])
def test_a_file_is_not_a_module(words: tuple[str, ...], name: str, hint: str) -> None:
    """A file name is refused with the module name to write instead."""
    command, *rest = words
    error = CliRunner().invoke(build_app(), ["mesh", command, name, *rest]).exception
    assert isinstance(error, UsageError)
    assert error.message == f"“{name.partition(':')[0]}” is a file, not a module"
    assert error.hint == hint


@pytest.mark.parametrize("name", ["tiles", "tiles:render"])
@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("\nraise RuntimeError('no')", "RuntimeError: no", "fix the module"),
        ("\nimport no_such_lib", "No module named 'no_such_lib'", "install no_such_lib for "),
    ],
)
def test_a_node_says_where_its_module_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, told: str, hint: str
) -> None:
    """The error names the line of the module that has to be fixed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])  # the command adds the folder to sys.path
    (tmp_path / "tiles.py").write_text(text)
    error = CliRunner().invoke(build_app(), ["mesh", "worker", "math:sqrt", name]).exception
    assert isinstance(error, BrokenModuleError)
    assert error.message.startswith("tiles cannot be imported: ")
    assert error.message.endswith(f"{told} ({tmp_path}/tiles.py, line 2)")
    assert error.hint.startswith(hint)
