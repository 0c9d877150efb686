"""The same gateway with containers as workers, on one engine or on a swarm."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import psutil

from tests.docker.engine import BASE, MOUNTS, Engine
from tests.docker.host import EngineFailedError
from tests.docker.swarm import Swarm
from tests.e2e.gateway import Gateway

DEMO = (sys.executable, "-m", "steelyard.demo", "--host", "0.0.0.0", "--port", "{port}")
FLAGS = ("--image", BASE, "--port", "8000", "--runtime-volumes", json.dumps(MOUNTS))


class DockerGateway(Gateway):
    """One `steelyard up` whose workers are containers of the tests' engine."""

    def __init__(self, engine: Engine, home: Path, *flags: str) -> None:
        super().__init__(home, "--runtime", "docker", *FLAGS, *flags, command=DEMO)
        self.engine = engine

    def worker_pids(self) -> set[int]:
        return applications(self.engine.inspect(one)["State"]["Pid"] for one in self._containers())

    def destroy(self) -> list[psutil.Process]:
        """End everything by force."""
        left = super().destroy()
        for one in self._containers(all=1):
            self.engine.remove(one)
        remove_networks(self.engine, self.home)
        return left

    def _containers(self, **query: int) -> list[str]:
        words = "&".join(f"{name}={value}" for name, value in query.items())
        found = self.engine.ask("GET", f"/containers/json?{words}")
        return [one["Id"] for one in found if is_of(self.home, one)]


class SwarmGateway(Gateway):
    """One `steelyard up` whose workers are services of the tests' swarm."""

    def __init__(self, swarm: Swarm, home: Path, *flags: str) -> None:
        kind = ("--runtime", "swarm", "--runtime-pull", "never")
        super().__init__(home, *kind, *FLAGS, *flags, command=DEMO)
        self.swarm = swarm

    def worker_pids(self) -> set[int]:
        services = self._services()
        tasks = [one for one in self.swarm.tasks() if one["ServiceID"] in services]
        states = [one["Status"] for one in tasks if one["Status"]["State"] == "running"]
        return applications(one["ContainerStatus"]["PID"] for one in states)

    def destroy(self) -> list[psutil.Process]:
        """End everything by force."""
        left = super().destroy()
        for one in self._services():
            self.swarm.manager.ask("DELETE", f"/services/{one}")
        remove_networks(self.swarm.manager, self.home)
        return left

    def _services(self) -> set[str]:
        found = self.swarm.manager.services()
        return {one["ID"] for one in found if is_of(self.home, one["Spec"])}


KINDS = {"process": Gateway, "docker": DockerGateway, "swarm": SwarmGateway}


def is_of(home: Path, thing: dict[str, Any]) -> bool:
    """Whether the object has the label of that state folder."""
    label = (thing["Labels"] or {}).get("steelyard.home", "")
    return bool(label) and Path(label).is_relative_to(home)


def remove_networks(engine: Engine, home: Path) -> None:
    """Remove the gateway's networks; other tests notice any that stay.

    A swarm lists a network for a moment after it has been removed.
    """
    for network in engine.ask("GET", "/networks"):
        if is_of(home, network):
            with contextlib.suppress(EngineFailedError):
                engine.ask("DELETE", f"/networks/{network['Id']}")


def applications(inits: Any) -> set[int]:
    """The pids of the applications: each is the child of its container's init."""
    return {child.pid for init in inits if init for child in _children(init)}


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []
