"""The examples in the documentation of every selector run as they stand."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import steelyard.select
from steelyard.select import KEYED, POLICIES

GUIDE = Path(__file__).parents[2] / "docs" / "select.md"
MODULES = [found.name for found in pkgutil.iter_modules(steelyard.select.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """Each example prints what it says."""
    assert doctest.testmod(import_module(f"steelyard.select.{name}")).failed == 0


@pytest.mark.parametrize("name", [*POLICIES, *KEYED])
def test_every_policy_has_an_example_in_a_file_of_its_name(name: str) -> None:
    """Every policy has its own file with an example."""
    assert doctest.testmod(import_module(f"steelyard.select.{name}")).attempted > 0


def test_the_guide_is_true() -> None:
    """The examples of the guide print what it says, and it leaves no policy out."""
    assert doctest.testfile(str(GUIDE), module_relative=False).failed == 0
    text = GUIDE.read_text(encoding="utf-8")
    names = [make.__name__ for make in (*POLICIES.values(), *KEYED.values())]  # type: ignore[attr-defined]
    assert [name for name in names if f"`{name}`" not in text] == []
