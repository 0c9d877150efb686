"""Hosts that are network namespaces on one bridge, with links that can be cut, also one way only.

A cut sends what one host has for another to a hardware address that nobody has: it vanishes without
a word, as behind a broken switch. Only root may do this, with `ip` of iproute2.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

NOBODY = "02:00:00:00:00:99"
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_NUMBERS = itertools.count()


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


@cache
def possible() -> bool:
    """Whether this machine lets us have namespaces."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    name = f"steelyard-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode == 0:
        ip("netns", "del", name)
    return made.returncode == 0


def enter(namespace: str) -> None:
    """This process, which must have one thread, is on that host from now on."""
    fd = os.open(Path("/run/netns") / namespace, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(fd, _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(fd)


class Hosts:
    """Some hosts, 10.77.0.1 and on, numbered from 0; all links are up."""

    def __init__(self, count: int) -> None:
        name = f"steelyard-{os.getpid()}-{next(_NUMBERS)}"
        self._bridge = f"{name}-bridge"
        self.names = [f"{name}-{number}" for number in range(count)]
        self.addresses = [f"10.77.0.{number + 1}" for number in range(count)]

    def __enter__(self) -> Hosts:
        ip("netns", "add", self._bridge)
        ip("-n", self._bridge, "link", "add", "bridge", "type", "bridge")
        ip("-n", self._bridge, "link", "set", "bridge", "up")
        for number, name in enumerate(self.names):
            port, eth = f"port{number}", ["name", "eth0", "netns", name]
            ip("netns", "add", name)
            ip("-n", self._bridge, "link", "add", port, "type", "veth", "peer", *eth)
            ip("-n", self._bridge, "link", "set", port, "master", "bridge", "up")
            ip("-n", name, "address", "add", f"{self.addresses[number]}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *error: object) -> None:
        for name in [*self.names, self._bridge]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def cut(self, one: int, other: int, *, both: bool = True) -> None:
        """What `one` sends to `other` is lost, and with `both` the other way, too."""
        there = [self.addresses[other], "lladdr", NOBODY, "dev", "eth0", "nud", "permanent"]
        ip("-n", self.names[one], "neigh", "replace", *there)
        if both:
            self.cut(other, one, both=False)

    def mend(self, one: int, other: int, *, both: bool = True) -> None:
        """Undo a cut."""
        ip("-n", self.names[one], "neigh", "del", self.addresses[other], "dev", "eth0")
        if both:
            self.mend(other, one, both=False)
