"""Turning the manager's answer into the states of workers."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.runtime.swarm.cluster import SwarmError, read_cluster, require_swarm


def node(id: str = "n1", state: str = "ready", **more: Any) -> dict[str, Any]:  # noqa: A002
    status = {"State": state, "Addr": "192.0.2.7"}
    return {"ID": id, "Description": {"Hostname": "oak"}, "Status": status, **more}


def task(state: str, code: int = 0, error: str = "", **more: Any) -> dict[str, Any]:
    container = {"ContainerID": "c1", "PID": 7, "ExitCode": code}
    status = {"State": state, "Err": error, "ContainerStatus": container, "PortStatus": {}}
    return {"ServiceID": "s1", "NodeID": "n1", "Status": status, "CreatedAt": "1", **more}


@pytest.mark.parametrize(
    ("task", "end"),
    [
        (task("running"), None),
        (task("preparing"), None),
        (task("pending", error="no suitable node"), None),
        (task("complete"), "exit code 0"),
        (task("failed", 3, "task: non-zero exit (3)"), "exit code 3"),
        (task("failed", 137, "task: non-zero exit (137)"), "killed by SIGKILL"),
        (task("failed", 0, "port is taken"), "port is taken"),
        (task("rejected", 0, "No such image: shop:2"), "No such image: shop:2"),
        (task("shutdown"), "shutdown"),
    ],
)  # fmt: skip
def test_a_task_ends_by_its_own_state(task: dict[str, Any], end: str | None) -> None:
    """The exit code tells the reason; without one, the swarm's own message does."""
    assert read_cluster([node()], [task]).end("s1") == end


@pytest.mark.parametrize(
    ("state", "end"), [("ready", None), ("unknown", None), ("down", "node oak is down")]
)
def test_a_task_ends_with_its_node(state: str, end: str | None) -> None:
    """A manager that has just restarted does not know yet which nodes are down."""
    assert read_cluster([node(state=state)], [task("running")]).end("s1") == end


def test_a_task_that_is_not_there_is_gone() -> None:
    """The service of the task was removed by somebody else."""
    assert read_cluster([node()], []).end("s1") == "gone"


def test_of_several_tasks_the_newest_counts() -> None:
    """`docker service update --force` leaves the old task in the list."""
    old, new = task("shutdown", CreatedAt="1"), task("running", CreatedAt="2")
    for tasks in ([old, new], [new, old]):
        assert read_cluster([node()], tasks).end("s1") is None


def test_a_manager_that_does_not_know_its_address_tells_it_elsewhere() -> None:
    shown = node(ManagerStatus={"Addr": "192.0.2.9:2377"})
    shown["Status"]["Addr"] = "0.0.0.0"
    assert read_cluster([shown], []).nodes["n1"].address == "192.0.2.9"


@pytest.mark.parametrize(
    ("swarm", "words", "hint"),
    [
        ({"LocalNodeState": "inactive"}, "in no swarm", "docker swarm init"),
        ({"LocalNodeState": "locked"}, "swarm is locked", "docker swarm unlock"),
        ({"LocalNodeState": "error", "Error": "no CA"}, "swarm is error: no CA", "docker info"),
        ({"LocalNodeState": "active", "ControlAvailable": False}, "only a manager", "DOCKER_HOST"),
    ],
)
def test_an_engine_that_manages_no_swarm_is_told(
    swarm: dict[str, Any], words: str, hint: str
) -> None:
    """The error says what to do."""
    with pytest.raises(SwarmError, match=words) as told:
        require_swarm({"Swarm": swarm})
    assert hint in told.value.hint


def test_a_manager_will_do() -> None:
    require_swarm({"Swarm": {"LocalNodeState": "active", "ControlAvailable": True}})
