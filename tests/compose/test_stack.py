"""`docker stack deploy` of stack.yaml, as docs/deployment.md says, on a swarm of one node."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.compose.images import ROOT, load
from tests.compose.project import IMAGE, PATIENCE, Project, until
from tests.docker.engine import Engine
from tests.docker.swarm import Swarm
from tests.e2e.load import Load
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.needs("docker"),
    pytest.mark.needs("swarm"),
    pytest.mark.needs("docker command"),
    pytest.mark.timeout(1800),
]
NAME = "steelyard"
FILES = ("stack.yaml", "tests/compose/stack-on-host.yaml")


class Stack:
    """The commands of docs/deployment.md, on the tests' swarm."""

    def __init__(self, swarm: Swarm) -> None:
        self.swarm = swarm
        socket = swarm.manager.socket
        self.environ = {
            **os.environ,
            "DOCKER_HOST": swarm.manager.url,
            "DOCKER_SOCKET_VOLUME": str(socket),
            "DOCKER_GID": str(socket.stat().st_gid),
            "PARTS_IMAGE": IMAGE,
            "TARGET_PORT": "8000",
            "HEALTH_PATH": "/health",
        }

    def docker(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            ["docker", *words], cwd=ROOT, env=self.environ, input=given,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def prepare(self) -> None:
        node = self.docker("node", "ls", "--quiet").strip()
        self.docker("node", "update", "--label-add", "steelyard.store=true", node)
        self.docker("secret", "create", "steelyard-token", "-", given="0123456789abcdef" * 2)

    def deploy(self, image: str = IMAGE) -> None:
        self.environ["DOCKER_IMAGE"] = image
        files = [word for file in FILES for word in ("--compose-file", file)]
        self.docker("stack", "deploy", "--resolve-image", "never", *files, NAME)

    def remove(self) -> None:
        self.docker("service", "rm", f"{NAME}_agent")
        label = "label=steelyard.application=app"
        workers = self.docker("service", "ls", "--quiet", "--filter", label).split()
        self.docker("service", "rm", *workers)
        self.docker("stack", "rm", NAME)
        wait_until(lambda: self.goes("secret", "rm", "steelyard-token"), PATIENCE)
        wait_until(lambda: self.goes("volume", "rm", f"{NAME}_redis"), PATIENCE)

    def goes(self, *words: str) -> bool:
        """Whether the command succeeded: an object in use cannot be removed yet."""
        try:
            return bool(self.docker(*words))
        except AssertionError:
            return False

    def steelyard(self, *words: str) -> str:
        """Run a command in the agent's container, as a user does."""
        [agent] = self.docker("ps", "--quiet", "--filter", f"name={NAME}_agent").split()
        return self.docker("exec", agent, "steelyard", *words)

    def workers(self) -> dict[str, str]:
        """The image of each worker by name."""
        specs = [one["Spec"] for one in self.swarm.manager.services()]
        ours = [one for one in specs if "steelyard.worker" in one["Labels"]]
        return {one["Name"]: one["TaskTemplate"]["ContainerSpec"]["Image"] for one in ours}

    def serves(self) -> bool:
        """Whether both workers are ready; False while no agent leads yet."""
        try:
            return "2 of 2 workers ready" in self.steelyard("status")
        except (AssertionError, ValueError):
            return False

    def updating(self) -> bool:
        """Whether the swarm is still replacing the agent's container."""
        shown = self.swarm.manager.ask("GET", f"/services/{NAME}_agent")
        return bool(shown.get("UpdateStatus", {}).get("State") == "updating")

    def logs(self) -> str:
        words = [self.docker("stack", "ps", "--no-trunc", NAME)]
        words += [
            self.docker("service", "logs", f"{NAME}_{part}") for part in ("agent", "balancer")
        ]
        return "\n".join(words)


@pytest.fixture
def stack(private_docker: Engine, swarm: Swarm) -> Iterator[Stack]:
    """The stack, deployed as docs/deployment.md says; after the test only images are left."""
    load(private_docker)
    project = Project(private_docker)
    project.build()
    load(swarm.manager)
    project.copy_to(swarm.manager)
    made = Stack(swarm)
    made.prepare()
    made.deploy()
    yield made
    made.remove()


async def test_it_comes_up_and_its_application_is_upgraded(stack: Stack) -> None:
    """Workers answer through the node's port; each is drained, and replaced by a new one."""
    await until(stack.serves, "the stack does not come up", stack.logs)
    old = stack.workers()
    load = Load(8080, "/sleep?ms=20", host=stack.swarm.addresses[0])
    async with load.running():
        await load.more(200)
        assert len(load.workers) == 2
        stack.docker("tag", IMAGE, "steelyard:next")
        await asyncio.to_thread(stack.deploy, "steelyard:next")
        for name in old:
            await until(lambda: not stack.updating() and stack.serves(), "no agent", stack.logs)
            await asyncio.to_thread(stack.steelyard, "drain", name)
            await until(lambda name=name: name not in stack.workers(), "it stays", stack.logs)
        await until(stack.serves, "the new ones do not serve", stack.logs)
        await load.more(200)
    assert load.failed == []
    assert stack.workers().keys().isdisjoint(old)
