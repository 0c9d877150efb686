"""Hosts that are network namespaces on one bridge, with links that can be cut, also one way only.

A cut sends the packets from one host to another to a hardware address that does not exist: they
vanish without an error, as behind a broken switch. Only root may do this, with `ip` of iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack
from functools import cache

from tests.docker.namespace import IP, Namespace

NOBODY = "02:00:00:00:00:99"


@cache
def possible() -> bool:
    """Whether this machine lets us create namespaces."""
    if not IP or not shutil.which("nsenter") or os.geteuid() != 0:
        return False
    made = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, check=False)
    return made.returncode == 0


class Hosts:
    """Some hosts with addresses from 10.77.0.1 on, numbered from 0; all links are up."""

    def __init__(self, count: int) -> None:
        self.addresses = [f"10.77.0.{number + 1}" for number in range(count)]
        self.spaces: list[Namespace] = []
        self._stack = ExitStack()

    def __enter__(self) -> Hosts:
        with ExitStack() as stack:
            switch = self._space("switch", stack)
            switch.ip("link", "add", "bridge", "type", "bridge")
            switch.ip("link", "set", "bridge", "up")
            for number, address in enumerate(self.addresses):
                host, port = self._space(f"host{number}", stack), f"port{number}"
                eth = ["name", "eth0", "netns", str(host.pid)]
                switch.ip("link", "add", port, "type", "veth", "peer", *eth)
                switch.ip("link", "set", port, "master", "bridge", "up")
                host.ip("address", "add", f"{address}/24", "dev", "eth0")
                host.ip("link", "set", "eth0", "up")
                self.spaces.append(host)
            self._stack = stack.pop_all()
        return self

    def _space(self, name: str, stack: ExitStack) -> Namespace:
        made = Namespace(name)
        stack.callback(made.end)
        return made

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def cut(self, one: int, other: int, *, both: bool = True) -> None:
        """Lose all packets from `one` to `other`; with `both`, also those in the other
        direction.
        """
        there = [self.addresses[other], "lladdr", NOBODY, "dev", "eth0", "nud", "permanent"]
        self.spaces[one].ip("neigh", "replace", *there)
        if both:
            self.cut(other, one, both=False)

    def mend(self, one: int, other: int, *, both: bool = True) -> None:
        """Undo a cut."""
        self.spaces[one].ip("neigh", "del", self.addresses[other], "dev", "eth0")
        if both:
            self.mend(other, one, both=False)
