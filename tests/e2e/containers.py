"""The same gateway with containers for workers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psutil

from tests.docker.engine import BASE, MOUNTS, Engine
from tests.e2e.gateway import Gateway

DEMO = (sys.executable, "-m", "steelyard.demo", "--host", "0.0.0.0", "--port", "{port}")
FLAGS = (
    "--runtime", "docker", "--image", BASE, "--port", "8000",
    "--runtime-volumes", json.dumps(MOUNTS),
)  # fmt: skip


class DockerGateway(Gateway):
    """One `steelyard up` whose workers are containers of the tests' engine."""

    def __init__(self, engine: Engine, home: Path, *flags: str) -> None:
        super().__init__(home, *FLAGS, *flags, command=DEMO)
        self.engine = engine

    def worker_pids(self) -> set[int]:
        """The applications: each the child of its container's init."""
        inits = [self.engine.inspect(one)["State"]["Pid"] for one in self._containers()]
        return {child.pid for init in inits if init for child in _children(init)}

    def destroy(self) -> list[psutil.Process]:
        """End everything, by force."""
        left = super().destroy()
        for one in self._containers(all=1):
            self.engine.remove(one)
        for network in self.engine.ask("GET", "/networks"):
            if self._ours(network):
                self.engine.ask("DELETE", f"/networks/{network['Id']}")
        return left

    def _containers(self, **query: int) -> list[str]:
        words = "&".join(f"{name}={value}" for name, value in query.items())
        found = self.engine.ask("GET", f"/containers/json?{words}")
        return [one["Id"] for one in found if self._ours(one)]

    def _ours(self, thing: dict[str, dict[str, str]]) -> bool:
        home = (thing["Labels"] or {}).get("steelyard.home", "")
        return Path(home).is_relative_to(self.home) and bool(home)


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []
