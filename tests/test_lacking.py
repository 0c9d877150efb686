"""Tests on a machine that lacks something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import started
from tests.docker.host import KernelLacksError
from tests.lacking import lacking


def refuse() -> None:
    """Imitate the start of an engine on a kernel without containers."""
    raise KernelLacksError("no containers here")


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_nothing_is_skipped_in_ci(
    ci: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In CI, a missing thing and a kernel without containers are failures."""
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no wings"):
        lacking("no wings")
    with pytest.raises(outcome, match="no containers here"), started(refuse):
        pass


def test_no_test_skips_but_by_way_of_what_is_lacking() -> None:
    """Any other skip would be green in CI, so no other file has one."""
    skips = re.compile(r"\b(pytest|mark|unittest)\.(skip|skipif|skipIf|xfail|importorskip)\b")
    root = Path(__file__).parent
    found = {file.relative_to(root).name for file in root.rglob("*.py")
             if skips.search(file.read_text())}  # fmt: skip
    assert found == {"lacking.py", "test_lacking.py"}
