"""The rules for the units of `steelyard mesh run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.cli import mesh_rules
from steelyard.cli.mesh_rules import look_up, rules_for
from steelyard.mesh.protocol.task import Rules

DECORATED = """
from steelyard import mesh

@mesh.unit(retries=5, hedge=False, deadline=60, memory=1000)
def render(tile): ...

def plain(tile): ...
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command is started."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "tiles.py").write_text(text)


def test_the_rules_are_those_of_the_function(here: Path) -> None:
    """A function without a decorator has the default rules."""
    write(here, DECORATED)
    assert rules_for("tiles:render") == (Rules(5, False, 60, 1000), "")
    assert rules_for("tiles:plain") == (Rules(), "")


def test_the_command_line_overrides_single_rules(here: Path) -> None:
    """Rules that the command line does not set stay."""
    write(here, DECORATED)
    rules, _ = rules_for("tiles:render", retries=0, hedge=True, deadline=None, memory=None)
    assert rules == Rules(0, True, 60, 1000)


def test_a_client_need_not_have_the_module(here: Path) -> None:
    """If the client lacks the module, the defaults apply, and a note says so."""
    rules, note = rules_for("tiles:render", deadline=3.0)
    assert rules == Rules(deadline=3.0)
    assert note.startswith("there is no module tiles here; ")
    write(here, DECORATED)
    assert rules_for("tiles:paint")[1].startswith("tiles has no paint, for tiles:paint; ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\nraise RuntimeError('no')", "RuntimeError: no ({file}, line 2)"),
        ("import json\njson.loads('{')\n", "JSONDecodeError: Expecting property name"),
        ("\ndef f(x) return x", "SyntaxError: expected ':' ({file}, line 2)"),
        ("raise SystemExit(3)", "SystemExit: 3 ({file}, line 1)"),
        ("import no_such_lib", "No module named 'no_such_lib' ({file}, line 1)"),
        (
            "from steelyard import mesh\n@mesh.unit(retries=-1)\ndef render(): ...",
            "UsageError: retries = -1 is not possible ({file}, line 2)",
        ),
    ],
)
@pytest.mark.parametrize("name", ["tiles", "tiles:render"])
def test_a_module_that_raises_is_told(here: Path, text: str, told: str, name: str) -> None:
    """The error names the line to fix, and the command itself is not harmed."""
    write(here, text)
    found = look_up(name)
    assert found.trouble.startswith("tiles cannot be imported: ")
    assert told.format(file=here / "tiles.py") in found.trouble
    assert f"({here}/tiles.py, line " in found.trouble
    assert found.mend
    assert rules_for("tiles:render")[0] == Rules()


def test_what_a_module_does_when_it_is_imported_stays_away(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Output, threads, exit handlers and the death of a module do not reach the command."""
    noise = (
        "import atexit, os, sys, threading, time\nprint('noise')\nprint('noise', file=sys.stderr)\n"
    )
    noise += "os.system('echo noise; sleep 5 &')\natexit.register(print, 'noise')\n"
    noise += "threading.Thread(target=time.sleep, args=(60,)).start()\n"
    write(here, noise + DECORATED)
    assert rules_for("tiles:render") == (Rules(5, False, 60, 1000), "")
    write(here, "import os\nos._exit(7)")
    assert look_up("tiles:render").trouble == "tiles:render ends Python when it is imported (7)"
    assert capfd.readouterr() == ("", "")


def test_an_import_that_does_not_end_is_given_up(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import without end is given up, and the units run with the default rules."""
    monkeypatch.setattr(mesh_rules, "PATIENCE", 0.5)
    write(here, "import time\ntime.sleep(60)")
    assert look_up("tiles:render").trouble == "tiles:render is not imported after 0.5 s"
