"""Labels tell our objects from those of others."""

from __future__ import annotations

import pytest

from steelyard.core.usage import Allowance
from steelyard.runtime.engine.labels import Mark, Owner, read_mark

OWNER = Owner("shop", "/state/shop")


@pytest.mark.parametrize("allowance", [Allowance(), Allowance(0.5, 2**26)])
def test_a_mark_survives_its_labels(allowance: Allowance) -> None:
    """An adopting agent learns everything about a worker from its labels."""
    mark = Mark("steelyard-shop-1", 8000, "network", allowance)
    assert read_mark({**OWNER.labels(), **mark.labels()}) == mark


@pytest.mark.parametrize(
    ("labels", "ours"),
    [
        (None, False),
        ({}, False),
        ({"steelyard.application": "shop"}, False),
        ({"steelyard.application": "shop", "steelyard.home": "/other"}, False),
        ({"steelyard.application": "blog", "steelyard.home": "/state/shop"}, False),
        ({"steelyard.application": "shop", "steelyard.home": "/state/shop", "x": "y"}, True),
    ],
)
def test_an_owner_owns_what_says_so(labels: dict[str, str] | None, ours: bool) -> None:
    """An owner is the same application in the same folder, and nothing less."""
    assert OWNER.owns(labels) is ours


@pytest.mark.parametrize("wrong", [{"steelyard.port": "x"}, {"steelyard.cpus": "many"}])
def test_a_mark_that_was_tampered_with_is_none(wrong: dict[str, str]) -> None:
    """A malformed mark makes the object a stranger's."""
    mark = Mark("one", 8000, "loopback", Allowance())
    assert read_mark({**mark.labels(), **wrong}) is None
