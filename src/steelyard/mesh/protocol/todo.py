"""Units that nobody has, by function; first in, first out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
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

    def add(self, entry: Entry) -> None:
        """A new unit, at the end."""
        self.lines.setdefault(entry.task.function, OrderedDict())[entry.task.number] = entry
        self.total += 1

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
        if not line:
            del self.lines[entry.task.function]

    def count(self, serves: Serves) -> int:
        """Units that a node could have."""
        return sum(len(line) for function, line in self.lines.items() if serves(function))

    def take(self, node: str, serves: Serves, most: int) -> list[Entry]:
        """The oldest units that this node may have; they are no longer in the line."""
        lines = [line.values() for function, line in self.lines.items() if serves(function)]
        oldest = merge(*lines, key=lambda entry: entry.task.number)
        taken = list(islice((one for one in oldest if not one.avoids(node)), most))
        for entry in taken:
            self.drop(entry)
        return taken
