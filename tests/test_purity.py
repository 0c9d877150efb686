"""Purity: which build runs is the environment's to say."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steelyard import purity

ASK = "import steelyard.balancer.grammar as g, steelyard.select as s; print(g.__file__)"


def run(wish: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with the variable set to this."""
    env = {**os.environ, purity.VARIABLE: wish}
    return subprocess.run([sys.executable, "-c", ASK], env=env, capture_output=True, text=True)


def test_pure_on_demand() -> None:
    """With 1 the source is run, whether it was compiled or not."""
    assert run("1").stdout.strip().endswith("grammar.py")


@pytest.mark.skipif(not purity.is_built(), reason="nothing is compiled here")
def test_compiled_when_built() -> None:
    """Without a wish, and with 0, the extension modules are used."""
    assert run("").stdout.strip().endswith(".so")
    assert run("0").stdout.strip().endswith(".so")


def test_a_wish_that_cannot_be() -> None:
    """A strange value is refused, with what it may be."""
    done = run("yes")
    assert done.returncode != 0
    assert "STEELYARD_PURE is 1 (plain Python) or 0 (compiled only)" in done.stderr


def test_compiled_only_where_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for what is not there, it says how to get it."""
    monkeypatch.setattr(purity, "is_built", lambda: False)
    monkeypatch.setenv(purity.VARIABLE, "0")
    with pytest.raises(ImportError, match="make build"):
        purity.enforce()
