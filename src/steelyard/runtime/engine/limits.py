"""The limits that the engine can enforce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.core.usage import Allowance


def enforced(wanted: Allowance, engine: Mapping[str, Any]) -> tuple[Allowance, list[str]]:
    """The limits that will be in force, and messages about the rest; `engine` is `GET /info`."""
    able = {"cpus": engine.get("CpuCfsQuota", True), "memory": engine.get("MemoryLimit", True)}
    wishes = {"cpus": wanted.cpus, "memory": wanted.memory}
    notes = [
        f"runtime.{key} = {value} is not enforced: the engine's kernel cannot do so"
        for key, value in wishes.items()
        if value is not None and not able[key]
    ]
    return Allowance(
        cpus=wanted.cpus if able["cpus"] else None,
        memory=wanted.memory if able["memory"] else None,
    ), notes
