"""Units that no node has, in a queue for each function; first in, first out.

For each node, a counter says how many of these units the node must not get. It is kept up to date
as units come and go, because every pull asks for it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from heapq import merge
from itertools import islice

from steelyard.mesh.protocol.task import Entry

Serves = Callable[[str], bool]
Line = OrderedDict[int, Entry]  # by unit number


class Todo:
    """A queue of units for each function."""

    def __init__(self) -> None:
        self.total = 0
        self.lines: dict[str, Line] = {}  # there is no entry without units
        # By node and function, how many units it must not get.
        self._withheld: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, entry: Entry) -> None:
        """Add a new unit at the end of its queue."""
        self.lines.setdefault(entry.task.function, OrderedDict())[entry.task.number] = entry
        self.total += 1
        self._tally(entry, 1)

    def put_back(self, entries: Iterable[Entry]) -> None:
        """Put units that no node did back to the front, the oldest first."""
        for entry in sorted(entries, key=lambda entry: -entry.task.number):
            self.add(entry)
            self.lines[entry.task.function].move_to_end(entry.task.number, last=False)

    def drop(self, entry: Entry) -> None:
        """Remove a unit that no node needs to get any more."""
        line = self.lines[entry.task.function]
        del line[entry.task.number]
        self.total -= 1
        self._tally(entry, -1)
        if not line:
            del self.lines[entry.task.function]

    @contextmanager
    def reconsidered(self, entry: Entry) -> Iterator[None]:
        """Within this context, the set of nodes that must not get the unit may change. The unit
        need not be queued.
        """
        here = entry.task.number in self.lines.get(entry.task.function, ())
        self._tally(entry, -here)
        yield
        self._tally(entry, here)

    def _tally(self, entry: Entry, by: int) -> None:
        for node in entry.avoided if entry.refusals or entry.harmed else ():
            counts = self._withheld[node]
            counts[entry.task.function] += by
            if not counts[entry.task.function]:
                del counts[entry.task.function]
            if not counts:
                del self._withheld[node]

    def count(self, node: str, serves: Serves) -> int:
        """How many queued units this node may have."""
        lines = self.lines.items()
        there = sum(len(line) for function, line in lines if serves(function))
        if node not in self._withheld:
            return there
        withheld = self._withheld[node].items()
        return there - sum(count for function, count in withheld if serves(function))

    def take(self, node: str, serves: Serves, most: int) -> list[Entry]:
        """Remove and return the oldest units that this node may have."""
        lines = [line.values() for function, line in self.lines.items() if serves(function)]
        oldest = merge(*lines, key=lambda entry: entry.task.number)
        taken = list(islice((one for one in oldest if not one.avoids(node)), most))
        for entry in taken:
            self.drop(entry)
        return taken
