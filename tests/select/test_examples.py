"""The examples in the documentation of every selector run as they stand."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import steelyard.select
from steelyard.select import KEYED, POLICIES

MODULES = [found.name for found in pkgutil.iter_modules(steelyard.select.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """Each prints what it says it prints."""
    assert doctest.testmod(import_module(f"steelyard.select.{name}")).failed == 0


@pytest.mark.parametrize("name", [*POLICIES, *KEYED])
def test_every_policy_has_an_example_in_a_file_of_its_name(name: str) -> None:
    """One policy, one file, one example at least."""
    assert doctest.testmod(import_module(f"steelyard.select.{name}")).attempted > 0
