"""Instructions per request: a count of our balancer's work that other load moves by 1–2 % at most.

Each tree's balancer runs under valgrind's callgrind. Counting is switched on when the balancer is
warm, and off after a fixed number of requests on one kept connection. Only the thread that serves
clients is counted: the other thread wakes up by the clock, so its count grows with the time that
the run takes. The kernel's work is not counted, so a change that saves system calls shows little
here: `bench balancer` measures that.
"""

from __future__ import annotations

import re
import shutil
import socket
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from steelyard.bench import machine, tools
from steelyard.bench.balancer.backend import Backend
from steelyard.bench.balancer.cases import CASES, Case, Kind
from steelyard.bench.launch import Command, Launched
from steelyard.bench.ports import HOST, answers, free_port
from steelyard.bench.proxies.base import Member, Site
from steelyard.bench.proxies.ours import Ours
from steelyard.bench.usage import tree
from steelyard.bench.watcher import Watcher
from steelyard.errors import Fault, SteelyardError
from steelyard.runtime.procfs import PROC

WARM_UP = 300  # requests that are not counted
CHOICES = {case.name: case for case in CASES if case.kind is Kind.HTTP}
_SERVING_THREAD = "01"  # the main thread, as callgrind numbers threads
_PATIENCE = 30.0  # seconds for one answer: a balancer under valgrind is fifty times slower
# `summary:` stays 0 in a dump that was made while counting was off.
_TOTAL = re.compile(r"^totals: (\d+)", re.MULTILINE)


class CountError(SteelyardError):
    """Instructions cannot be counted on this machine."""

    fault = Fault.MACHINE


class Tree(NamedTuple):
    """A checkout with compiled modules; no path means the package that is running."""

    name: str
    source: Path | None = None

    @property
    def path(self) -> Path:
        return self.source or Path(__file__).parents[2]


class Count(BaseModel):
    """What one request costs a tree's balancer in one case."""

    tree: str
    case: str
    instructions: float


def named(folder: Path) -> Tree:
    """A checkout, or its `src` folder, as a tree that can be measured."""
    source = folder / "src" if (folder / "src" / "steelyard").is_dir() else folder
    if not list((source / "steelyard").rglob("*.so")):
        raise CountError(
            f"{folder} has no compiled modules of Steelyard", hint="run `make build` there"
        )
    return Tree(str(folder), source.resolve())


def measure(
    trees: Sequence[Tree], cases: Sequence[Case], requests: int, rounds: int, watcher: Watcher
) -> list[Count]:
    """Count every case on every tree: the median of the rounds."""
    for program in ("nginx", "valgrind"):
        if why := tools.why_missing(program):
            raise CountError(why, hint=f"on Debian, as root: apt-get install {program}")
    watcher.begin(len(trees) * len(cases))
    counts = []
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as place:
        home = Path(place) / "backend"
        home.mkdir()
        with Backend(Kind.HTTP, home, machine.choose_cores().rest) as backend:
            for number, one in enumerate(trees):
                folder = Path(place) / f"tree-{number}"
                folder.mkdir()
                with _balancer(one, backend.member, folder) as balancer:
                    for case in cases:
                        watcher.tell(f"{one.name}: {case.title}")
                        costs = [balancer.count(case, requests) for _ in range(rounds)]
                        cost = statistics.median(costs)
                        counts.append(Count(tree=one.name, case=case.name, instructions=cost))
                        watcher.step()
    return counts


@dataclass(frozen=True)
class Balancer:
    """A balancer process under callgrind, with counting switched off."""

    pid: int
    port: int
    folder: Path

    def count(self, case: Case, requests: int) -> float:
        """Instructions per request."""
        text = request(case)
        with socket.create_connection((HOST, self.port), _PATIENCE) as client:
            for _ in range(WARM_UP):
                _exchange(client, text)
            self._control("-i", "on")
            for _ in range(requests):
                _exchange(client, text)
            self._control("-i", "off")
        before = self._dumps()
        self._control("-d")
        [dump] = self._dumps() - before
        return total(dump.read_text()) / requests

    def _dumps(self) -> set[Path]:
        return set(self.folder.glob(f"count.{self.pid}.*-{_SERVING_THREAD}"))

    def _control(self, *words: str) -> None:
        done = subprocess.run(
            ["callgrind_control", *words, str(self.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or "OK." not in done.stdout:
            raise CountError(f"callgrind_control failed: {done.stdout}{done.stderr}".strip())


@contextmanager
def _balancer(one: Tree, backend: Member, folder: Path) -> Iterator[Balancer]:
    site = Site(free_port(), (backend,), folder)
    ours = Ours(one.name, compiled=True).command(site)
    words = [
        shutil.which("valgrind") or "valgrind",
        "--tool=callgrind",
        "--instr-atstart=no",
        "--trace-children=yes",
        "--separate-threads=yes",
        f"--callgrind-out-file={folder}/count.%p",
        *ours.words,
    ]
    environment = {**ours.environment, "PYTHONPATH": str(one.path)}
    with Launched(Command(words, environment), None, folder / "log") as running:
        running.wait_until(lambda: answers(site.listen, "/fields"), one.name)
        yield Balancer(_balancer_pid(running.pid), site.listen, folder)


def _balancer_pid(root: int) -> int:
    """The one descendant that is a balancer; the root is its supervisor."""
    for pid in tree(root):
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        if any(word.startswith(b"balancer-") for word in words):
            return pid
    raise CountError(f"no balancer process was found below {root}")


def request(case: Case) -> bytes:
    """The bytes of one request."""
    fields = {"Host": HOST, **case.fields}
    if case.upload:
        fields["Content-Length"] = str(case.upload)
    head = f"{case.method} {case.path} HTTP/1.1\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return head.encode() + b"\r\n" + b"x" * case.upload


def _exchange(client: socket.socket, text: bytes) -> None:
    """Send one request and read its answer, which has a Content-Length."""
    client.sendall(text)
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += _received(client)
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", data[:end])
    if length is None:
        raise CountError(f"an answer came without a Content-Length: {bytes(data[:end])!r}")
    left = end + 4 + int(length[1]) - len(data)
    while left > 0:
        left -= len(_received(client))


def _received(client: socket.socket) -> bytes:
    data = client.recv(2**18)
    if not data:
        raise CountError("the balancer closed the connection while it was measured")
    return data


def total(dump: str) -> int:
    """The instructions that a dump of callgrind counted."""
    found = _TOTAL.search(dump)
    if found is None:
        raise CountError("callgrind's dump has no total")
    return int(found[1])
