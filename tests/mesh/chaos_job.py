"""A job over nodes on several hosts, which goes on while links between the hosts are cut."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from tests.contract.transports import eventually
from tests.mesh.hosts import Hosts

PORT = 7547
NODE = """
import sys
from steelyard.mesh import codec
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.join import Place, open_link
from steelyard.mesh.node import Node
link = open_link(Place(listen=[sys.argv[1]], join=sys.argv[2:], insecure=True))
card = codec.Card(sys.argv[1], procs=2, functions=("tests.mesh.execution.units:rest",))
node = Node(link, card, Pool)
node.start()
print("up", flush=True)
sys.stdin.read()
"""
CLIENT = """
import sys
from steelyard.mesh import Client, Place
from tests.mesh.execution.units import rest
listen, seed, count = sys.argv[1:]
with Client(place=Place(listen=[listen], join=[seed], insecure=True)) as client:
    for answer in client.map(rest, range(int(count))).as_completed():
        print(answer.value, flush=True)
"""


class Workers:
    """A node on each host; the client of each job is on the second."""

    def __init__(self, hosts: Hosts, stack: ExitStack) -> None:
        self._hosts, self._stack = hosts, stack
        self._seed = f"tcp/{hosts.addresses[0]}:{PORT}"
        for number, address in enumerate(hosts.addresses):
            join = [self._seed] if number else []
            self._start(number, NODE, f"tcp/{address}:{PORT}", *join).stdout.readline()  # type: ignore[union-attr]

    def _start(self, host: int, code: str, *words: str) -> subprocess.Popen[str]:
        there = self._hosts.spaces[host].within()
        process = subprocess.Popen(
            [*there, "env", f"--chdir={Path.cwd()}", sys.executable, "-c", code, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def job(self, units: int) -> Job:
        """Start a job."""
        listen = f"tcp/{self._hosts.addresses[1]}:{PORT + 1}"
        return Job(self._start(1, CLIENT, listen, self._seed, str(units)), units)


class Job:
    """The answers that a client has got so far."""

    def __init__(self, client: subprocess.Popen[str], units: int) -> None:
        self._client, self._units = client, units
        self._values: list[int] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._client.stdout is not None
        for line in self._client.stdout:
            self._values.append(int(line))

    def under_way(self) -> None:
        """Wait until some units are done."""
        eventually(lambda: len(self._values) > self._units // 20)
        assert len(self._values) < self._units, "it was over before it could be disturbed"

    def finish(self) -> str:
        """Wait for the end of the job, and check that every unit was delivered exactly once."""
        assert self._client.wait(300) == 0
        self._reader.join()
        assert sorted(self._values) == list(range(self._units))
        return f"{self._units} units, once each"
