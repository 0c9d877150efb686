"""Turns the settings into the service that the manager is asked for.

A service of one replica is one worker, so that the agent, not the swarm, decides which worker ends.
For the same reason the swarm never restarts it. The service's name resolves to its task's address
(`dnsrr`): a virtual address in front of a single task would only need IPVS in the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    """The way to make services for the workers of one application."""

    application: settings.Application
    runtime: settings.Runtime
    premises: Premises

    def mark(self, name: str, allowance: Allowance) -> Mark:
        return Mark(name, self.premises.port, self.runtime.reach, allowance)

    def service(self, mark: Mark, image: str, network: str) -> dict[str, Any]:
        """The arguments of aiodocker's `services.create`.

        They make up the body of the engine's `POST /services/create`.
        """
        return {
            "name": mark.name,
            "labels": {**self.premises.owner.labels(), **mark.labels()},
            "task_template": {
                "ContainerSpec": self._container(mark, image),
                "Resources": {"Limits": _limits(mark.allowance)},
                "RestartPolicy": {"Condition": "none"},
                "Placement": {"Constraints": list(self.runtime.constraints)},
                "Networks": [{"Target": network}],
                "LogDriver": {"Name": LOG_DRIVER, "Options": LOG_OPTIONS},
            },
            "mode": {"Replicated": {"Replicas": 1}},
            "endpoint_spec": {"Mode": "dnsrr", "Ports": self._published()},
        }

    def _container(self, mark: Mark, image: str) -> dict[str, Any]:
        wish: dict[str, Any] = {
            "Image": image,
            "Hostname": mark.name,
            "Env": environment(self.application, mark),
            "Mounts": [_mount(volume) for volume in self.runtime.volumes],
            "Init": True,  # for the reason in docker.recipe
            "CapabilityDrop": ["ALL"],
            "CapabilityAdd": list(self.runtime.capabilities),
            "Privileges": {"NoNewPrivileges": True},
            "HealthCheck": UNCHECKED,
            "StopGracePeriod": round(self.runtime.grace * 1e9),
        }
        if self.application.command:
            wish["Args"] = list(fill_port(self.application.command, self.premises.port))
        return wish

    def _published(self) -> list[dict[str, Any]]:
        """Publish a port that the engine chooses on the task's node; or none at all."""
        if self.runtime.reach == "network":
            return []
        return [{"Protocol": "tcp", "TargetPort": self.premises.port, "PublishMode": "host"}]


def privileges_kept(shown: Mapping[str, Any]) -> bool:
    """Whether the manager knows the wish for no new privileges; old managers drop it silently."""
    kept = shown["Spec"]["TaskTemplate"]["ContainerSpec"].get("Privileges") or {}
    return bool(kept.get("NoNewPrivileges"))


def _limits(allowance: Allowance) -> dict[str, int]:
    found = {}
    if allowance.cpus is not None:
        found["NanoCPUs"] = round(allowance.cpus * 1e9)
    if allowance.memory is not None:
        found["MemoryBytes"] = allowance.memory
    return found


def _mount(volume: str) -> dict[str, Any]:
    """Parse `SOURCE:TARGET[:ro]`; a source that begins with a slash is a path on every node."""
    source, target, *mode = volume.split(":")
    return {
        "Type": "bind" if source.startswith("/") else "volume",
        "Source": source,
        "Target": target,
        "ReadOnly": mode == ["ro"],
    }
