"""From the settings to the container that the engine is asked for.

A worker may do little: no capability, no new privilege, and no restart by the engine, since the
agent decides about that. An init is process 1, because a program that is process 1 itself gets no
signal it has no handler for, and would have to be killed at each stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.config import settings
from steelyard.core.usage import Allowance
from steelyard.runtime.docker.labels import Mark, Owner
from steelyard.runtime.spawn import fill_port

# Docker's own default keeps all a worker ever printed. `local` reads back, and rotates.
_LOG = {"Type": "local", "Config": {"max-size": "10m", "max-file": "3"}}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the workers of one application are made."""

    application: settings.Application
    runtime: settings.Runtime
    owner: Owner
    network: str
    image: str
    port: int

    def mark(self, name: str, allowance: Allowance) -> Mark:
        return Mark(name, self.port, self.runtime.reach, allowance)

    def container(self, mark: Mark) -> dict[str, Any]:
        """The body of the engine's `POST /containers/create`."""
        exposed = f"{self.port}/tcp"
        wish: dict[str, Any] = {
            "Image": self.image,
            "Hostname": mark.name,
            "Env": [f"{name}={value}" for name, value in self._environment(mark).items()],
            "Labels": {**self.owner.labels(), **mark.labels()},
            "ExposedPorts": {exposed: {}},
            "HostConfig": {**self._host(mark.allowance), "PortBindings": self._published(exposed)},
            "NetworkingConfig": {"EndpointsConfig": {self.network: {}}},
        }
        if self.application.command:
            wish["Cmd"] = list(fill_port(self.application.command, self.port))
        return wish

    def _environment(self, mark: Mark) -> dict[str, str]:
        """Not STEELYARD_HOME: a process runtime would take the container's processes for its own.

        HOST is every address of the container: its loopback is reached from nowhere else.
        """
        return {
            "HOST": "0.0.0.0",
            **self.application.environment,
            "PORT": str(self.port),
            "STEELYARD_APPLICATION": self.owner.application,
            "STEELYARD_WORKER": mark.name,
        }

    def _host(self, allowance: Allowance) -> dict[str, Any]:
        found: dict[str, Any] = {
            "NetworkMode": self.network,
            "RestartPolicy": {"Name": "no"},
            "Init": True,
            "SecurityOpt": ["no-new-privileges"],
            "CapDrop": ["ALL"],
            "CapAdd": list(self.runtime.capabilities),
            "Binds": list(self.runtime.volumes),
            "LogConfig": _LOG,
        }
        if allowance.cpus is not None:
            found["NanoCpus"] = round(allowance.cpus * 1e9)
        if allowance.memory is not None:
            # As much memory and swap together as memory alone: no swap.
            found |= {"Memory": allowance.memory, "MemorySwap": allowance.memory}
        return found

    def _published(self, exposed: str) -> dict[str, Any]:
        """On loopback only, on a port that the engine chooses; or not at all."""
        if self.runtime.reach == "network":
            return {}
        return {exposed: [{"HostIp": "127.0.0.1", "HostPort": ""}]}
