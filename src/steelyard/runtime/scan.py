"""Finding our workers, and what belongs to them, from nothing but the machine.

The worker is the session leader: its end is the worker's end. Around it are its family (its
session, and descendants that left it), and after it its remains (whatever of the family is left,
told by session, group or the inherited mark).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from steelyard.runtime.marks import Mark, read_mark
from steelyard.runtime.procfs import Process, Stat, all_stats, read_environment
from steelyard.runtime.register import Register


@dataclass(frozen=True, slots=True)
class Marked:
    """A living process that carries our mark."""

    stat: Stat
    mark: Mark


def find_marked(home: str, application: str, register: Register) -> list[Marked]:
    """Every living process with the mark of this application in this folder."""
    entries = register.entries()
    found = []
    for stat in all_stats():
        mark = read_mark(read_environment(stat.process.pid)) or entries.get(stat.process)
        if stat.alive and mark and (mark.home, mark.application) == (home, application):
            found.append(Marked(stat, mark))
    return found


def leaders(marked: Iterable[Marked]) -> list[Marked]:
    """The workers among them: of each name the session leader that is oldest.

    A helper that called setsid leads a session with the same mark, and is younger.
    """
    found: dict[str, Marked] = {}
    for one in sorted(marked, key=lambda one: one.stat.process.started):
        if one.stat.session == one.stat.process.pid:
            found.setdefault(one.mark.name, one)
    return list(found.values())


def families(workers: Iterable[Process]) -> dict[Process, list[Stat]]:
    """Each worker that lives, with its whole family, zombies included.

    A zombie's CPU time counts until its parent waits for it; then it is part of the parent's.
    """
    stats = list(all_stats())
    now = {stat.process: stat for stat in stats if stat.alive}
    sessions, children = defaultdict(list), defaultdict(list)
    for stat in stats:
        sessions[stat.session].append(stat)
        children[stat.parent].append(stat)
    return {
        worker: _with_descendants(sessions[worker.pid], children)
        for worker in workers
        if worker in now
    }


def _with_descendants(members: list[Stat], children: dict[int, list[Stat]]) -> list[Stat]:
    found = {stat.process: stat for stat in members}
    queue = list(members)
    while queue:
        for child in children.get(queue.pop().process.pid, ()):
            if child.process not in found:
                found[child.process] = child
                queue.append(child)
    return list(found.values())


def remains(leader: Process, mark: Mark) -> list[Process]:
    """Everything alive of a worker but its leader."""
    stats = [stat for stat in all_stats() if stat.alive and stat.process != leader]
    if any(stat.process.pid == leader.pid for stat in stats):
        # The kernel gives a pid out again only when no session or group goes by it any more.
        led: list[Stat] = []
    else:
        led = [stat for stat in stats if leader.pid in (stat.session, stat.group)]
    marked = [stat for stat in stats if _is_of(stat, mark)]
    return list({stat.process for stat in (*led, *marked)})


def _is_of(stat: Stat, mark: Mark) -> bool:
    found = read_mark(read_environment(stat.process.pid))
    return found is not None and (found.home, found.application, found.name) == (
        mark.home,
        mark.application,
        mark.name,
    )
