"""The mark that a worker carries in its environment, by which a later agent recognises it.

The environment that a process was started with can be read in /proc as long as the process lives,
is inherited by its children, and is there from the first moment. `register` covers programs that
overwrite their environment. A mark proves nothing by itself, as every user can set variables:
`seal` tells which marks were made by an agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.core.usage import Allowance
from steelyard.runtime.names import is_worker_name

_PREFIX = "STEELYARD_"
_WORKER = "STEELYARD_WORKER"
_APPLICATION = "STEELYARD_APPLICATION"
_HOME = "STEELYARD_HOME"
_CPUS = "STEELYARD_CPUS"
_MEMORY = "STEELYARD_MEMORY"
_GROUPS = "STEELYARD_CGROUPS"
_SEAL = "STEELYARD_SEAL"
_PORTS = range(1, 65536)


@dataclass(frozen=True, slots=True)
class Mark:
    """The identity of a worker, and the facts that an adopting agent needs."""

    home: str  # the application's state folder, which tells two agents of one name apart
    application: str
    name: str
    port: int
    allowance: Allowance = field(default_factory=Allowance)
    groups: tuple[Path, ...] = ()  # the worker's control groups
    # the signature over all fields above; empty: made by a version that did not sign marks
    seal: str = ""

    def variables(self) -> dict[str, str]:
        """The mark as environment variables."""
        found = {
            _WORKER: self.name,
            _APPLICATION: self.application,
            _HOME: self.home,
            _CPUS: _text(self.allowance.cpus),
            _MEMORY: _text(self.allowance.memory),
            _GROUPS: ":".join(map(str, self.groups)),
            _SEAL: self.seal,
            "PORT": str(self.port),
        }
        return {name: value for name, value in found.items() if value}


def claims(environment: Mapping[str, str], home: str, application: str) -> bool:
    """Whether this environment claims to be that of a worker of this application."""
    return (environment.get(_HOME), environment.get(_APPLICATION)) == (home, application)


def read_mark(environment: Mapping[str, str]) -> Mark | None:
    """Read the mark from an environment; None if no agent can have written it."""
    try:
        mark = Mark(
            home=environment[_HOME],
            application=environment[_APPLICATION],
            name=environment[_WORKER],
            port=int(environment["PORT"]),
            allowance=_allowance(environment),
            groups=tuple(Path(path) for path in environment.get(_GROUPS, "").split(":") if path),
            seal=environment.get(_SEAL, ""),
        )
    except (KeyError, ValueError):
        return None
    return mark if is_worker_name(mark.name) and mark.port in _PORTS else None


def worker_environment(
    inherited: Mapping[str, str], added: Mapping[str, str], mark: Mark
) -> dict[str, str]:
    """A worker's environment: the agent's without our own variables, the user's settings, the mark.

    Variables that begin with STEELYARD_ are left out, as they are the agent's settings, perhaps
    with a token. SPT_NOENV asks the setproctitle library, which gunicorn and Celery use, not to
    write the title over the environment in memory: /proc would no longer show the mark.
    """
    kept = {name: value for name, value in inherited.items() if not name.startswith(_PREFIX)}
    return {**kept, "HOST": "127.0.0.1", "SPT_NOENV": "1", **added, **mark.variables()}


def _allowance(environment: Mapping[str, str]) -> Allowance:
    cpus, memory = environment.get(_CPUS), environment.get(_MEMORY)
    return Allowance(float(cpus) if cpus else None, int(memory) if memory else None)


def _text(value: float | int | None) -> str:
    return "" if value is None else str(value)
