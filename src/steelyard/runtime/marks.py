"""The mark a worker carries in its environment: how a later agent knows it as its own.

The environment a process was started with is readable in /proc for as long as it lives, is
inherited by its children, and is there from the first moment. `register` helps out for programs
that overwrite it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.core.usage import Allowance

_PREFIX = "STEELYARD_"
_WORKER = "STEELYARD_WORKER"
_APPLICATION = "STEELYARD_APPLICATION"
_HOME = "STEELYARD_HOME"
_CPUS = "STEELYARD_CPUS"
_MEMORY = "STEELYARD_MEMORY"
_GROUPS = "STEELYARD_CGROUPS"


@dataclass(frozen=True, slots=True)
class Mark:
    """What identifies a worker, and what an adopting agent must know of it."""

    home: str  # the application's state folder: two agents of one name are told apart by it
    application: str
    name: str
    port: int
    allowance: Allowance = field(default_factory=Allowance)
    groups: tuple[Path, ...] = ()  # its control groups

    def variables(self) -> dict[str, str]:
        """The mark as environment variables."""
        found = {
            _WORKER: self.name,
            _APPLICATION: self.application,
            _HOME: self.home,
            _CPUS: _text(self.allowance.cpus),
            _MEMORY: _text(self.allowance.memory),
            _GROUPS: ":".join(map(str, self.groups)),
            "PORT": str(self.port),
        }
        return {name: value for name, value in found.items() if value}


def read_mark(environment: Mapping[str, str]) -> Mark | None:
    """The mark in an environment; None: not a worker's, or one that was tampered with."""
    try:
        return Mark(
            home=environment[_HOME],
            application=environment[_APPLICATION],
            name=environment[_WORKER],
            port=int(environment["PORT"]),
            allowance=_allowance(environment),
            groups=tuple(Path(path) for path in environment.get(_GROUPS, "").split(":") if path),
        )
    except (KeyError, ValueError):
        return None


def worker_environment(
    inherited: Mapping[str, str], added: Mapping[str, str], mark: Mark
) -> dict[str, str]:
    """What a worker sees: the agent's environment without our own variables, the user's, the mark.

    Ours stay behind because they are the agent's settings, a token perhaps. SPT_NOENV asks the
    setproctitle library, which gunicorn and Celery use, not to write the title over the
    environment in memory: the mark would be gone from /proc.
    """
    kept = {name: value for name, value in inherited.items() if not name.startswith(_PREFIX)}
    return {**kept, "HOST": "127.0.0.1", "SPT_NOENV": "1", **added, **mark.variables()}


def _allowance(environment: Mapping[str, str]) -> Allowance:
    cpus, memory = environment.get(_CPUS), environment.get(_MEMORY)
    return Allowance(float(cpus) if cpus else None, int(memory) if memory else None)


def _text(value: float | int | None) -> str:
    return "" if value is None else str(value)
