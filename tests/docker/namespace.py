"""Namespaces for tests, whose bridges, rules and mounts vanish with them.

A namespace has no name, only a process that holds it. So it ends with that process, which in turn
ends with the tests (tests/reaper.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.docker.host import PATH, PATIENCE, EngineFailedError, KernelLacksError

IP = shutil.which("ip", path=PATH) or ""
_NEW_NET = 0x40000000  # linux/sched.h; os.setns comes only with Python 3.12


class Namespace:
    """A network, mounts and a host name of its own, as long as its process runs.

    Mounts of this machine are visible in it; its own mounts are visible nowhere else.
    """

    def __init__(self, name: str) -> None:
        script = f"echo {name} > /proc/sys/kernel/hostname; exec sleep infinity"
        words = ["unshare", "--net", "--uts", "--mount", "--propagation", "slave"]
        words += ["sh", "-c", script]
        self._holder = subprocess.Popen(words)
        self.pid = self._holder.pid
        deadline = time.monotonic() + PATIENCE
        while Path(f"/proc/{self.pid}/comm").read_text() != "sleep\n":
            if self._holder.poll() is not None or time.monotonic() > deadline:
                raise EngineFailedError("no network namespace can be made")
            time.sleep(0.005)
        self.ip("link", "set", "lo", "up")

    def within(self) -> tuple[str, ...]:
        """The prefix of a command that runs in the namespace, in the root folder.

        `ip netns exec` would hide the control groups.
        """
        return ("nsenter", f"--target={self.pid}", "--net", "--uts", "--mount")

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Inside the block, this thread and what it starts are in the namespace's network."""
        with open("/proc/thread-self/ns/net") as before, open(f"/proc/{self.pid}/ns/net") as ours:
            _enter(ours.fileno())
            try:
                yield
            finally:
                _enter(before.fileno())

    def ip(self, *words: str) -> None:
        ip(*words, within=self.within())

    def end(self) -> None:
        self._holder.kill()
        self._holder.wait()


def enter(pid: int) -> None:
    """Move this thread into the network that the process holds, for good."""
    with open(f"/proc/{pid}/ns/net") as network:
        _enter(network.fileno())


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, _NEW_NET) != 0:
        raise KernelLacksError(f"setns: {os.strerror(ctypes.get_errno())}")


def ip(*words: str, within: tuple[str, ...] = ()) -> None:
    """Run `ip` on this machine's network, or on that of a namespace."""
    done = subprocess.run([*within, IP, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise KernelLacksError(f"ip {' '.join(words)}: {done.stderr.strip()}")
