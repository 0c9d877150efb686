"""The labels of our containers, services and networks, by which a later agent recognises them.

Two agents may serve applications of the same name: the state folder tells them apart, as it does
for processes (marks). Objects without our labels, or with another agent's, belong to somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.core.usage import Allowance
from steelyard.runtime.names import is_worker_name

APPLICATION = "steelyard.application"
HOME = "steelyard.home"
WORKER = "steelyard.worker"
PORT = "steelyard.port"
REACH = "steelyard.reach"
CPUS = "steelyard.cpus"
MEMORY = "steelyard.memory"


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of an object on an engine: one application of one state folder."""

    application: str
    home: str

    def labels(self) -> dict[str, str]:
        return {APPLICATION: self.application, HOME: self.home}

    def filters(self) -> str:
        """The filter for the engine's lists that selects this owner's objects."""
        return json.dumps({"label": [f"{name}={value}" for name, value in self.labels().items()]})

    def owns(self, labels: Mapping[str, str] | None) -> bool:
        return labels is not None and self.labels().items() <= labels.items()


@dataclass(frozen=True, slots=True)
class Mark:
    """The facts about a worker that an adopting agent needs."""

    name: str
    port: int  # inside the container
    reach: str
    allowance: Allowance

    def labels(self) -> dict[str, str]:
        found = {
            WORKER: self.name,
            PORT: str(self.port),
            REACH: self.reach,
            CPUS: "" if self.allowance.cpus is None else str(self.allowance.cpus),
            MEMORY: "" if self.allowance.memory is None else str(self.allowance.memory),
        }
        return {name: value for name, value in found.items() if value}


def read_mark(labels: Mapping[str, str]) -> Mark | None:
    """Read the mark from a container's labels; None if no agent can have written it."""
    cpus, memory = labels.get(CPUS), labels.get(MEMORY)
    try:
        mark = Mark(
            name=labels[WORKER],
            port=int(labels[PORT]),
            reach=labels[REACH],
            allowance=Allowance(float(cpus) if cpus else None, int(memory) if memory else None),
        )
    except (KeyError, ValueError):
        return None
    return mark if is_worker_name(mark.name) else None
