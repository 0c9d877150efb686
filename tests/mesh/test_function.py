"""Functions that are run as units."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy
import pytest

from steelyard import mesh
from steelyard.errors import SteelyardError, UsageError
from steelyard.mesh import served as serving
from steelyard.mesh.function import name_of, rules_of
from steelyard.mesh.protocol.task import Rules
from steelyard.mesh.served import NotServedError, served
from tests.mesh import jobs


def test_a_unit_is_still_a_function() -> None:
    """Calling a unit function runs it here."""
    assert jobs.double(4) == 8
    assert jobs.double.__name__ == "double"
    assert name_of(jobs.double) == "tests.mesh.jobs:double"


def test_rules_are_those_of_the_decorator() -> None:
    """Rules come from the decorator; a plain function has the default ones."""
    assert rules_of(jobs.hang) == Rules(retries=0, deadline=0.2)
    assert rules_of(len) == Rules()


def test_what_has_no_name_is_refused() -> None:
    """A function that no node can import is refused: a method would be called without its
    object.
    """
    for nameless in (lambda: 1, "text".upper, Path("x").exists):
        with pytest.raises(UsageError, match="has no name"):
            name_of(nameless)
    # These classes have the same module in every Python; those of pathlib do not.
    assert name_of(Fraction.limit_denominator) == "fractions:Fraction.limit_denominator"
    assert name_of(Fraction.from_float) == "fractions:Fraction.from_float"
    assert name_of(len) == "builtins:len"
    for half in ("", "module", "module:", ":function"):
        with pytest.raises(SteelyardError, match="is not the name of a function"):
            name_of(half)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"retries": -1}, {"retries": 1.5}, {"retries": "2"}),
        *({"deadline": 0}, {"deadline": nan}, {"deadline": "soon"}),
        *({"hedge": "no"}, {"hedge": None}),
        *({"memory": -5}, {"memory": 2.5}, {"memory": 2**63}, {"memory": inf}),
    ],
)
def test_rules_that_cannot_be_kept_are_told(wrong: dict[str, Any]) -> None:
    """Wrong rules raise an error when the module is imported."""
    with pytest.raises(UsageError, match=next(iter(wrong))):
        mesh.unit(**wrong)


def test_rules_are_numbers_that_can_be_sent() -> None:
    """Rules become plain numbers, whatever kind of number they were."""
    rules = rules_of(mesh.unit(retries=numpy.int64(1), deadline=Fraction(5, 2), memory=1e9)(len))  # type: ignore[arg-type,type-var]
    assert rules == Rules(1, True, 2.5, 10**9)
    assert [type(one) for one in rules] == [int, bool, float, int]


def test_a_script_is_known_by_its_file(tmp_path: Path) -> None:
    """Nodes import the functions of a script by the name of its file."""
    script = tmp_path / "renderer.py"
    script.write_text(
        "from steelyard.mesh.function import name_of\n"
        "def f(): ...\n"
        "if __name__ == '__main__': print(name_of(f))\n"
    )
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert told.stdout == "renderer:f\n"
    text = script.read_text()
    told = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True)
    assert "was typed in" in told.stderr


def test_a_module_stands_for_all_its_units() -> None:
    """A module stands for all its units, a function for itself, marked or not."""
    assert "tests.mesh.jobs:double" in served(["tests.mesh.jobs"])
    assert served(["math:sqrt"]) == ("math:sqrt",)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("math", "math has no function marked with @mesh.unit"),
        ("math:nothing", "math has no nothing"),
        ("no_such_module", "there is no module no_such_module"),
        ("", "“” is not the name of a function"),
    ],
)
def test_what_cannot_be_served_is_told(wanted: str, told: str) -> None:
    """A wrong function is reported before the node joins."""
    with pytest.raises(NotServedError, match=told):
        served([wanted])


def test_a_module_may_print_when_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module may print while it is imported and when it ends; that is not taken for the
    answer.
    """
    (tmp_path / "talkative.py").write_text(
        "import atexit\nprint('hello')\natexit.register(print, 'bye')\ndef f(): ...\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert served(["talkative:f"]) == ("talkative:f",)


def test_an_import_that_does_not_end_is_told_and_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An import that does not end, as of a script that starts its own job, is given up."""
    (tmp_path / "unguarded.py").write_text("import time\ntime.sleep(1000)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(serving, "SLOW", 0.2)
    monkeypatch.setattr(serving, "PATIENCE", 0.2)
    with pytest.raises(NotServedError, match="is not imported after") as told:
        served(["unguarded:f"])
    assert "__main__" in told.value.hint
    assert "unguarded:f is still being imported" in caplog.text
