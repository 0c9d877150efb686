"""Finds our workers, and the processes that belong to them, from the machine alone.

A process is ours if the register names it, or if its mark carries our seal. A process that only
claims to be ours is a stranger: it is logged, and otherwise left alone.

The worker is the session leader: its end is the worker's end. A worker's family is its session, and
descendants that left the session. A worker's remains are the members of its family that outlive it;
they are recognised by session, process group, control group, or the inherited mark.
"""

from __future__ import annotations

import hmac
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from steelyard.runtime import cgroup
from steelyard.runtime.marks import Mark, claims, read_mark
from steelyard.runtime.procfs import (
    Process,
    Stat,
    all_stats,
    read_environment,
    read_stat,
    runs_as,
    users,
)
from steelyard.runtime.register import Register
from steelyard.runtime.seal import Seal


@dataclass(frozen=True, slots=True)
class Marked:
    """A living process that carries a mark of ours."""

    stat: Stat
    mark: Mark
    adoptable: bool  # may be a worker; False: it can only be the remains of one


@dataclass(frozen=True, slots=True)
class Stranger:
    """A living process that claims to be a worker of ours and cannot prove it."""

    process: Process
    problem: str


@dataclass(frozen=True, slots=True)
class Found:
    """All processes of the machine that are ours, and all that only claim to be."""

    marked: list[Marked]
    strangers: list[Stranger]


def find_marked(home: str, application: str, register: Register, seal: Seal) -> Found:
    """Examine every living process of the machine."""
    entries = register.entries()
    found = Found([], [])
    for stat in filter(lambda stat: stat.alive, all_stats()):
        named = entries.get(stat.process)
        environment = read_environment(stat.process.pid)
        if named is not None and (named.home, named.application) == (home, application):
            found.marked.append(Marked(stat, named, adoptable=True))
        elif claims(environment, home, application):
            _judge(found, stat, read_mark(environment), seal)
    return found


def _judge(found: Found, stat: Stat, mark: Mark | None, seal: Seal) -> None:
    """Sort a process by its mark.

    A child of a worker inherits the seal and may run as another user: such a process is not a
    worker.
    """
    if mark is None:
        found.strangers.append(Stranger(stat.process, "its mark is malformed"))
    elif not seal.fits(mark):
        problem = "its mark does not carry the seal of the state folder"
        found.strangers.append(Stranger(stat.process, problem))
    elif not all(cgroup.is_within(stat.process.pid, group) for group in mark.groups):
        problem = "it is not in the control groups that its mark names"
        found.strangers.append(Stranger(stat.process, problem))
    else:
        found.marked.append(Marked(stat, mark, runs_as(stat.process.pid, os.geteuid())))


def leaders(marked: Iterable[Marked]) -> list[Marked]:
    """The workers among these processes: for each name, the oldest session leader.

    A helper that called setsid leads a session with the same mark, and is younger.
    """
    found: dict[str, Marked] = {}
    for one in sorted(marked, key=lambda one: one.stat.process.started):
        if one.adoptable and one.stat.session == one.stat.process.pid:
            found.setdefault(one.mark.name, one)
    return list(found.values())


def families(workers: Iterable[Process]) -> dict[Process, list[Stat]]:
    """Each worker that lives, with its whole family, zombies included.

    A zombie's CPU time counts as its own until its parent waits for it, and as the parent's
    afterwards.
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


def may_own(leader: int, user: int) -> bool:
    """Whether a socket of this user may belong to the worker whose leader has this pid.

    A worker's command may change to another user than the agent's, so the users of its family
    count, too. Root is always accepted: root could do as it likes anyway, and a proxy that runs as
    root may listen on behalf of the worker.
    """
    if user in (0, os.geteuid()):
        return True
    stat = read_stat(leader)
    if stat is None:
        return False
    family = families([stat.process]).get(stat.process, [])
    return any(user in users(member.process.pid) for member in family)


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
    """Every living process of a worker except its leader."""
    stats = [stat for stat in all_stats() if stat.alive and stat.process != leader]
    if any(stat.process.pid == leader.pid for stat in stats):
        # The kernel reuses a pid only when no session or group has that number any more.
        led: list[Stat] = []
    else:
        led = [stat for stat in stats if leader.pid in (stat.session, stat.group)]
    marked = [stat for stat in stats if _is_of(stat, mark)]
    inside = {pid for group in mark.groups for pid in cgroup.members(group)}
    contained = [stat for stat in stats if stat.process.pid in inside]
    return list({stat.process for stat in (*led, *marked, *contained)})


def _is_of(stat: Stat, mark: Mark) -> bool:
    """Whether the process inherited this mark; a mark without a seal could be anybody's."""
    found = read_mark(read_environment(stat.process.pid))
    return (
        found is not None
        and mark.seal != ""
        and hmac.compare_digest(found.seal.encode(), mark.seal.encode())
    )
