"""A swarm for tests: several private engines, each in a network of its own, on one switch.

A node is a network namespace with a `dockerd` in it. So it has its own addresses, its own loopback
and the ports that a swarm insists on, and its link can be cut like a cable. The switch is a bridge
in a namespace, too, where this machine's firewall does not apply.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from tests.docker.engine import DRIVERS, Engine, require_kernel
from tests.docker.host import PATIENCE, EngineFailedError
from tests.docker.namespace import Namespace, ip

HEARTBEAT = 1_000_000_000  # nanoseconds; a node that misses three is down; Docker's default is 5 s
SETTLING = 30.0  # seconds; a swarm removes a container some seconds after its service
# An address of the range for network measurements, which is routed nowhere (RFC 2544). It depends
# on the process, since others may run tests on this machine, too.
_NUMBER = os.getpid() % 512
SUBNET = f"198.{18 + _NUMBER // 256}.{_NUMBER % 256}"
GATEWAY = {
    "Name": "docker_gwbridge",
    "Driver": "bridge",
    "Options": {
        "com.docker.network.bridge.name": "docker_gwbridge",
        "com.docker.network.bridge.enable_icc": "false",
        "com.docker.network.bridge.enable_ip_masquerade": "true",
    },
}


class Switch:
    """The link between the nodes; this machine is on it as `.254`.

    An overlay network consists of VXLAN tunnels, so a kernel without VXLAN is detected here.
    """

    def __init__(self) -> None:
        self._space = Namespace("switch")
        self._space.ip("link", "add", "switch", "type", "bridge")
        self._space.ip("link", "set", "switch", "up")
        self._space.ip("link", "add", "trial", "type", "vxlan", "id", "1", "dstport", "4789")
        leg = f"sy-{self._space.pid}"
        ip("link", "add", leg, "type", "veth", "peer", "name", "p254", "netns", self._name())
        ip("address", "add", f"{SUBNET}.254/24", "dev", leg)
        ip("link", "set", leg, "up")
        self._plug("p254")

    def connect(self, node: Namespace, number: int) -> str:
        """Connect a node; return its address."""
        peer = ("peer", "name", f"p{number}", "netns", self._name())
        node.ip("link", "add", "eth0", "type", "veth", *peer)
        node.ip("address", "add", f"{SUBNET}.{number}/24", "dev", "eth0")
        node.ip("link", "set", "eth0", "up")
        self._plug(f"p{number}")
        return f"{SUBNET}.{number}"

    def cut(self, number: int) -> None:
        self._space.ip("link", "set", f"p{number}", "down")

    def mend(self, number: int) -> None:
        self._space.ip("link", "set", f"p{number}", "up")

    def end(self) -> None:
        self._space.end()

    def _plug(self, name: str) -> None:
        self._space.ip("link", "set", name, "master", "switch", "up")

    def _name(self) -> str:
        return str(self._space.pid)


class Swarm:
    """The nodes of a swarm; the first one is the manager."""

    def __init__(self, driver: str, count: int) -> None:
        self.driver = driver
        self.nodes: list[Engine] = []
        self.addresses: list[str] = []
        self.switch = Switch()
        for number in range(1, count + 1):
            self._add(number)

    @property
    def manager(self) -> Engine:
        return self.nodes[0]

    def begin(self) -> None:
        """Start the engines and join them."""
        for node in self.nodes:
            node.start()
            node.load_base()
            # the swarm would create it at its first task
            node.ask("POST", "/networks/create", GATEWAY)
        where = {"ListenAddr": f"{self.addresses[0]}:2377", "AdvertiseAddr": self.addresses[0]}
        spec = {"Dispatcher": {"HeartbeatPeriod": HEARTBEAT}}
        wish = {**where, "DefaultAddrPool": ["10.215.0.0/16"], "SubnetSize": 24, "Spec": spec}
        self.manager.ask("POST", "/swarm/init", wish)
        token = self.manager.ask("GET", "/swarm")["JoinTokens"]["Worker"]
        for node, address in zip(self.nodes[1:], self.addresses[1:], strict=True):
            wish = {"ListenAddr": f"{address}:2377", "AdvertiseAddr": address}
            wish |= {"RemoteAddrs": [where["ListenAddr"]], "JoinToken": token}
            node.ask("POST", "/swarm/join", wish)
        self._wait_for_all()

    def things(self) -> list[dict[str, list[str]]]:
        """The names of all objects that a test could leave behind, by node."""
        return [node.things() for node in self.nodes]

    def settled(self, wanted: list[dict[str, list[str]]]) -> list[dict[str, list[str]]]:
        """The objects on each node, as soon as they are the wanted ones, or after half a minute."""
        deadline = time.monotonic() + SETTLING
        while (found := self.things()) != wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def kill(self, name: str) -> None:
        """Kill the container of a service, on whichever node it runs."""
        [service] = [one["ID"] for one in self.manager.services() if one["Spec"]["Name"] == name]
        [task] = [one for one in self.tasks() if one["ServiceID"] == service]
        container = task["Status"]["ContainerStatus"]["ContainerID"]
        for node in self.nodes:
            with contextlib.suppress(EngineFailedError):
                node.ask("POST", f"/containers/{container}/kill")

    def tasks(self) -> list[dict[str, Any]]:
        return list(self.manager.ask("GET", "/tasks"))

    def destroy(self) -> None:
        for node in self.nodes:
            node.destroy()
        self.switch.end()

    def _wait_for_all(self) -> None:
        """Wait until every node has the swarm's ingress network, and the manager calls it ready."""
        deadline = time.monotonic() + PATIENCE
        while not all("ingress" in node.things()["networks"] for node in self.nodes) or any(
            one["Status"]["State"] != "ready" for one in self.manager.ask("GET", "/nodes")
        ):
            if time.monotonic() > deadline:
                raise EngineFailedError(f"the swarm did not form\n{self.manager.last_words()}")
            time.sleep(0.05)

    def _add(self, number: int) -> None:
        space = Namespace(f"node{number}")
        self.addresses.append(self.switch.connect(space, number))
        self.nodes.append(Engine(self.driver, space))


@contextlib.contextmanager
def private_nodes(count: int) -> Iterator[Swarm]:
    """A swarm of `count` nodes with the base image, using the first storage driver that works."""
    require_kernel()
    failures = []
    for driver in DRIVERS:
        swarm = Swarm(driver, count)
        try:
            swarm.begin()
        except EngineFailedError as failure:
            failures.append(str(failure))
            swarm.destroy()
            continue
        try:
            yield swarm
        finally:
            swarm.destroy()
        return
    raise EngineFailedError("\n\n".join(failures))
