"""Only limits that the engine can enforce count as allowed."""

from __future__ import annotations

from steelyard.core.usage import Allowance
from steelyard.runtime.engine.limits import enforced

WANTED = Allowance(0.5, 2**26)


def test_an_able_engine_enforces_all() -> None:
    assert enforced(WANTED, {"CpuCfsQuota": True, "MemoryLimit": True}) == (WANTED, [])


def test_what_it_cannot_do_is_noted() -> None:
    """Otherwise usage would be rated against a limit that does not exist."""
    allowance, [note] = enforced(WANTED, {"CpuCfsQuota": False, "MemoryLimit": True})
    assert allowance == Allowance(None, 2**26)
    assert "runtime.cpus = 0.5 is not enforced" in note


def test_what_was_not_asked_for_is_not_missed() -> None:
    assert enforced(Allowance(), {"CpuCfsQuota": False, "MemoryLimit": False}) == (Allowance(), [])
