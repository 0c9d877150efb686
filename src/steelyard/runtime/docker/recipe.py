"""Turns the settings into the container that the engine is asked for.

A worker's rights are few: it has no capabilities and cannot gain privileges. The engine does not
restart it, since that is the agent's decision. Process 1 is an init, because the kernel drops
signals to process 1 for which it has no handler, and the worker would have to be killed at each
stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.config import settings
from steelyard.core.usage import Allowance
from steelyard.runtime.engine.container import LOG_DRIVER, LOG_OPTIONS, UNCHECKED
from steelyard.runtime.engine.environment import environment
from steelyard.runtime.engine.labels import Mark
from steelyard.runtime.engine.premises import Premises
from steelyard.runtime.spawn import fill_port


@dataclass(frozen=True, slots=True)
class Recipe:
    """The way to make containers for the workers of one application."""

    application: settings.Application
    runtime: settings.Runtime
    premises: Premises

    def mark(self, name: str, allowance: Allowance) -> Mark:
        return Mark(name, self.premises.port, self.runtime.reach, allowance)

    def container(self, mark: Mark) -> dict[str, Any]:
        """The body of the engine's `POST /containers/create`."""
        network = self.premises.network.name
        exposed = f"{self.premises.port}/tcp"
        wish: dict[str, Any] = {
            "Image": self.premises.image.name,
            "Hostname": mark.name,
            "Env": [f"{key}={value}" for key, value in environment(self.application, mark).items()],
            "Labels": {**self.premises.owner.labels(), **mark.labels()},
            "ExposedPorts": {exposed: {}},
            "Healthcheck": UNCHECKED,
            "HostConfig": {**self._host(mark.allowance), "PortBindings": self._published(exposed)},
            "NetworkingConfig": {"EndpointsConfig": {network: {}}},
        }
        if self.application.command:
            wish["Cmd"] = list(fill_port(self.application.command, self.premises.port))
        return wish

    def _host(self, allowance: Allowance) -> dict[str, Any]:
        found: dict[str, Any] = {
            "NetworkMode": self.premises.network.name,
            "RestartPolicy": {"Name": "no"},
            "Init": True,
            "SecurityOpt": ["no-new-privileges"],
            "CapDrop": ["ALL"],
            "CapAdd": list(self.runtime.capabilities),
            "Binds": list(self.runtime.volumes),
            "LogConfig": {"Type": LOG_DRIVER, "Config": LOG_OPTIONS},
        }
        if allowance.cpus is not None:
            found["NanoCpus"] = round(allowance.cpus * 1e9)
        if allowance.memory is not None:
            # The limit of memory and swap together equals the limit of memory, so there is no swap.
            found |= {"Memory": allowance.memory, "MemorySwap": allowance.memory}
        return found

    def _published(self, exposed: str) -> dict[str, Any]:
        """Publish the port on loopback, on a port that the engine chooses; or not at all."""
        if self.runtime.reach == "network":
            return {}
        return {exposed: [{"HostIp": "127.0.0.1", "HostPort": ""}]}
