"""Units that nobody has, by function; first in, first out.

How many of them are not for a node that serves their function is counted as they come and go: it is
asked at every pull.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from heapq import merge
from itertools import islice

from steelyard.mesh.protocol.task import Entry

Serves = Callable[[str], bool]
Line = OrderedDict[int, Entry]  # by number


class Todo:
    """A line for each function."""

    def __init__(self) -> None:
        self.total = 0
        self.lines: dict[str, Line] = {}  # none of them empty
        self._withheld: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by node, function

    def add(self, entry: Entry) -> None:
        """A new unit, at the end."""
        self.lines.setdefault(entry.task.function, OrderedDict())[entry.task.number] = entry
        self.total += 1
        self._tally(entry, 1)

    def put_back(self, entries: Iterable[Entry]) -> None:
        """Units that were given away for nothing; they are the next, the oldest of them first."""
        for entry in sorted(entries, key=lambda entry: -entry.task.number):
            self.add(entry)
            self.lines[entry.task.function].move_to_end(entry.task.number, last=False)

    def drop(self, entry: Entry) -> None:
        """A unit that need not be given away any more."""
        line = self.lines[entry.task.function]
        del line[entry.task.number]
        self.total -= 1
        self._tally(entry, -1)
        if not line:
            del self.lines[entry.task.function]

    @contextmanager
    def reconsidered(self, entry: Entry) -> Iterator[None]:
        """Within, it changes for whom a unit is, which may be here or not."""
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
        """Units that this node may have."""
        lines = self.lines.items()
        there = sum(len(line) for function, line in lines if serves(function))
        if node not in self._withheld:
            return there
        withheld = self._withheld[node].items()
        return there - sum(count for function, count in withheld if serves(function))

    def take(self, node: str, serves: Serves, most: int) -> list[Entry]:
        """The oldest units that this node may have; they are no longer in the line."""
        lines = [line.values() for function, line in self.lines.items() if serves(function)]
        oldest = merge(*lines, key=lambda entry: entry.task.number)
        taken = list(islice((one for one in oldest if not one.avoids(node)), most))
        for entry in taken:
            self.drop(entry)
        return taken
