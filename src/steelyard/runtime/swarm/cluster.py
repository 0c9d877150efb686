"""The swarm as its manager shows it: nodes, and the tasks of our services, at one moment.

A service has one task, which is never restarted. The manager is polled, as there is no event for a
task on another node (Engine API v1.41, `GET /events`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aiodocker import Docker

from steelyard.errors import Fault, SteelyardError
from steelyard.runtime.engine.connection import told
from steelyard.runtime.engine.container import code_reason

# The states of a task after `running`; none of them leads back to it.
_ENDED = {"complete", "shutdown", "failed", "rejected", "remove", "orphaned"}
_NOWHERE = "0.0.0.0"  # the address that some managers give for themselves


class SwarmError(SteelyardError):
    """The engine answers, but is not a manager of a working swarm."""

    fault = Fault.USER


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the swarm."""

    id: str
    name: str
    address: str
    down: bool


@dataclass(frozen=True, slots=True)
class Task:
    """The one run of a service."""

    node: str  # empty until a node has been chosen
    state: str
    error: str
    container: str
    code: int
    port: int | None  # the published port on its node
    created: str

    @property
    def running(self) -> bool:
        return self.state == "running"

    @property
    def unplaced(self) -> str:
        """Why no node takes the task; empty while the manager has not said."""
        return self.error if self.state == "pending" else ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The manager's answer at one moment."""

    nodes: Mapping[str, Node]
    tasks: Mapping[str, Task]  # keyed by service

    def end(self, service: str) -> str | None:
        """Why the service's task has ended; None if it runs, or will run."""
        task = self.tasks.get(service)
        if task is None:
            return "gone"
        if task.state in _ENDED:
            return _end_reason(task)
        node = self.lost(service)
        return f"node {node.name} is down" if node is not None else None

    def lost(self, service: str) -> Node | None:
        """The node of the service's task, if that node is down."""
        task = self.tasks.get(service)
        node = self.nodes.get(task.node) if task is not None else None
        return node if node is not None and node.down else None


async def look(client: Docker, filters: str) -> Cluster:
    """Ask the manager for its nodes, and for the tasks of the services that the filters select."""
    with told("the swarm cannot be inspected"):
        tasks = await client.tasks.list(filters=json.loads(filters))
        nodes = await client.nodes.list()
    return read_cluster(nodes, tasks)


def read_cluster(nodes: Iterable[Mapping[str, Any]], tasks: Iterable[Mapping[str, Any]]) -> Cluster:
    """Read the manager's answer; if a service has several tasks, the newest counts."""
    found = sorted(((task["ServiceID"], _task(task)) for task in tasks), key=_created)
    return Cluster({node["ID"]: _node(node) for node in nodes}, dict(found))


def require_swarm(info: Mapping[str, Any]) -> None:
    """Raise SwarmError unless the engine is a manager of a swarm; `info` is its `GET /info`."""
    swarm = info.get("Swarm") or {}
    state = swarm.get("LocalNodeState") or "inactive"
    if state == "inactive":
        raise SwarmError(
            "this engine is in no swarm",
            hint="docker swarm init --advertise-addr ADDRESS begins one, docker swarm join enters "
            "one; --runtime docker needs none",
        )
    if state != "active":
        raise SwarmError(
            f"this engine's swarm is {state}: {swarm.get('Error') or 'no reason given'}",
            hint="docker swarm unlock, if it is locked; else `docker info` tells",
        )
    if not swarm.get("ControlAvailable"):
        raise SwarmError(
            "this engine is a worker of its swarm, and only a manager can start services",
            hint="set DOCKER_HOST to a manager's engine; `docker node ls` there shows the nodes",
        )


def _created(pair: tuple[str, Task]) -> str:
    return pair[1].created


def _node(shown: Mapping[str, Any]) -> Node:
    status = shown["Status"]
    address = status.get("Addr") or _NOWHERE
    if address == _NOWHERE:
        address = shown.get("ManagerStatus", {}).get("Addr", address).rpartition(":")[0]
    name = shown["Description"].get("Hostname") or shown["ID"]
    return Node(shown["ID"], name, address, status["State"] == "down")


def _task(shown: Mapping[str, Any]) -> Task:
    status = shown["Status"]
    container = status.get("ContainerStatus") or {}
    ports = (status.get("PortStatus") or {}).get("Ports") or []
    return Task(
        node=shown.get("NodeID", ""),
        state=status["State"],
        error=status.get("Err", ""),
        container=container.get("ContainerID", ""),
        code=container.get("ExitCode", 0),
        port=ports[0]["PublishedPort"] if ports else None,
        created=shown.get("CreatedAt", ""),
    )


def _end_reason(task: Task) -> str:
    """The exit code, if the task ran and the code says something; else the swarm's own message."""
    if task.state == "complete" or (task.container and task.code > 0):
        return code_reason(task.code)
    return task.error or task.state
