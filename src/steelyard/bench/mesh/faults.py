"""What faults cost, measured with real nodes over Zenoh on loopback: they are killed, frozen,
slowed or given poison.

Units sleep, so that a busy machine disturbs little. Every scenario also checks that each unit was
answered once.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from steelyard.bench import machine
from steelyard.bench.mesh.nodes import NodeProcess
from steelyard.bench.watcher import Watcher
from steelyard.mesh import Client, Job

NAP, NOTE, POISON = (f"faults_work:{name}" for name in ("nap", "note", "poison"))
PATIENCE = 120.0


class Finding(BaseModel):
    """What one fault cost."""

    fault: str
    what: str
    found: float
    bar: float  # the most that is allowed
    kept: bool
    answered_once: bool


class FaultsReport(BaseModel):
    """The report of one run."""

    date: str
    machine: str
    command: str
    findings: list[Finding]


class Stage:
    """Some nodes with one child each, and a client that sees them all."""

    def __init__(self, stack: ExitStack, nodes: int, slowness: float = 1.0) -> None:
        self._stack = stack
        first = stack.enter_context(NodeProcess())
        self.join = [first.wait()]  # endpoints of the nodes that are alive
        self.nodes = [first, *(self._start() for _ in range(nodes - 2))]
        if nodes > 1:
            self.nodes.append(self._start(slowness))
        self.join += [one.wait() for one in self.nodes[1:]]
        self.client = self.new_client(nodes)

    def _start(self, slowness: float = 1.0) -> NodeProcess:
        return self._stack.enter_context(NodeProcess(self.join, slowness))

    def new_client(self, workers: int) -> Client:
        client = self._stack.enter_context(Client(self.join))
        client.wait_for_workers(workers, PATIENCE)
        return client

    def restart(self, index: int) -> None:
        """Kill one node, and start another, which joins those that are left."""
        self.nodes[index].kill()
        del self.join[index]
        self.nodes[index] = self._start()
        self.join.insert(index, self.nodes[index].wait())
        self.client.wait_for_workers(len(self.nodes), PATIENCE)


@contextmanager
def stage(nodes: int, slowness: float = 1.0) -> Iterator[Stage]:
    """Start so many nodes; the last is slower by this factor."""
    with ExitStack() as stack:
        yield Stage(stack, nodes, slowness)


def _once(job: Job, total: int) -> bool:
    keys = Counter(answer.key for answer in job.as_completed(PATIENCE) if answer.ok)
    return keys == dict.fromkeys(range(total), 1)


def _redone(hurt: Callable[[NodeProcess], None], fault: str, bar: float) -> Finding:
    """Measure how long it takes until a unit of a node that was hurt runs elsewhere."""
    unit = 1.0
    with stage(2) as play:
        job = play.client.map(NAP, [unit] * 2, keys=range(2))
        time.sleep(unit / 2)  # both nodes are in the middle of a unit
        began = time.monotonic()
        hurt(play.nodes[1])
        once = _once(job, 2)
        # The survivor is busy with its own unit for another half; then it runs the lost one.
        lost = time.monotonic() - began - 1.5 * unit
    what = "seconds until a lost unit is begun again, beyond the wait for a free child"
    return _finding(fault, what, lost, bar, once)


def killed() -> Finding:
    return _redone(NodeProcess.kill, "a node is killed (SIGKILL)", 0.1)


def killed_at_work() -> Finding:
    """Kill one of four busy nodes: the unit that it ran must be the next to start elsewhere."""
    seconds, units = 0.02, 600
    with stage(4) as play, tempfile.TemporaryDirectory() as folder:
        job = play.client.map(
            NOTE, [folder] * units, range(units), [seconds] * units, keys=range(units)
        )
        time.sleep(1.0)
        began = time.monotonic()
        play.nodes[-1].kill()
        once = _once(job, units)
        lost = _begun_again(Path(folder), began) - began
    what = "seconds until the unit it was at is begun again, by children that are all busy"
    return _finding("a node is killed among units of 20 ms", what, lost, 0.1 + seconds, once)


def _begun_again(folder: Path, end: float) -> float:
    """When the lost unit began again, by the logs of the children; the child that died logged
    nothing after `end`.
    """
    notes = [_notes(path) for path in folder.iterdir()]
    dead = min(notes, key=lambda times: max(times.values()))
    last = max((at, number) for number, at in dead.items() if at < end)[1]
    return min(times[last] for times in notes if times is not dead and last in times)


def _notes(path: Path) -> dict[int, float]:
    return {int(number): float(at) for number, at in map(str.split, path.read_text().splitlines())}


def frozen() -> Finding:
    return _redone(NodeProcess.freeze, "a node hangs (SIGSTOP), lease 1.5 s", 1.5)


def thawed() -> Finding:
    """Thaw a frozen node, which brings results that other nodes have brought before."""
    with stage(2) as play:
        job = play.client.map(NAP, [0.3] * 8, keys=range(8))
        time.sleep(0.1)
        play.nodes[1].freeze()
        once = _once(job, 8)
        play.nodes[1].thaw()
        play.client.wait_for_workers(2, PATIENCE)
        again = _once(play.client.map(NAP, [0.01] * 40, keys=range(40)), 40)
        late = job.done - 8
    return _finding("it comes back (SIGCONT)", "answers that came twice", late, 0, once and again)


def restarted() -> Finding:
    """Kill and restart all nodes in turn, beginning with the one that the others joined."""
    with stage(3) as play:
        job = play.client.map(NAP, [0.05] * 600, keys=range(600))
        for index in range(3):
            time.sleep(0.5)
            play.restart(index)
        once = _once(job, 600)
    return _finding("all nodes are killed and replaced", "units lost", job.failed, 0, once)


def slow() -> Finding:
    """Slow one node of four down by a factor of twenty."""
    units, seconds, slowness = 200, 0.02, 20.0
    ideal = units * seconds / (3 + 1 / slowness)
    with stage(4, slowness) as play:
        # Now the run times are known.
        _once(play.client.map(NAP, [seconds] * 20, keys=range(20)), 20)
        began = time.monotonic()
        once = _once(play.client.map(NAP, [seconds] * units, keys=range(units)), units)
        took = time.monotonic() - began
    return _finding(
        "one node of four is 20 × slower", "time, of the ideal", took / ideal, 1.1, once
    )


def poisoned() -> Finding:
    """Run two units that kill their children, among others."""
    with stage(2) as play, tempfile.TemporaryDirectory() as folder:
        bad = play.client.map(POISON, [folder] * 2, keys=range(2))
        good = play.client.map(NAP, [0.02] * 40, keys=range(40))
        once = _once(good, 40) and bad.wait(PATIENCE) and bad.failed == 2
        tries = len(list(Path(folder).iterdir()))
    return _finding(
        "2 units of 42 kill their children", "children lost, 3 tries each", tries, 6, once
    )


def fair() -> Finding:
    """Run a small job beside a huge one."""
    seconds, units, nodes = 0.005, 80, 4
    share = units * seconds / (nodes / 2)
    with stage(nodes) as play:
        other = play.new_client(nodes)
        huge = play.client.map(NAP, [seconds] * 20_000)
        time.sleep(0.5)
        began = time.monotonic()
        once = _once(other.map(NAP, [seconds] * units, keys=range(units)), units)
        took = time.monotonic() - began
        huge.cancel()
    what = "time of a small job, of its fair share"
    return _finding("a small job beside a huge one", what, took / share, 1.5, once)


Scenario = Callable[[], Finding]
SCENARIOS: tuple[Scenario, ...] = (
    killed, killed_at_work, frozen, thawed, restarted, slow, poisoned, fair,
)  # fmt: skip


def _finding(fault: str, what: str, found: float, bar: float, once: bool) -> Finding:
    return Finding(
        fault=fault, what=what, found=found, bar=bar, kept=found <= bar, answered_once=once
    )


def measure_faults(
    command: str, watcher: Watcher, scenarios: Sequence[Scenario] = SCENARIOS
) -> FaultsReport:
    """Run the scenarios, one after the other."""
    watcher.begin(len(scenarios), "faults")
    findings = []
    for scenario in scenarios:
        watcher.tell(scenario.__name__)
        findings.append(scenario())
        watcher.step()
    return FaultsReport(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine.describe(),
        command=command,
        findings=findings,
    )
