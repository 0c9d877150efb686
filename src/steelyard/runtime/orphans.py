"""Orphans: what a worker leaves to init comes to the agent, where no control group can be made.

The agent is a child subreaper then (PR_SET_CHILD_SUBREAPER, prctl(2)): a descendant whose parent
has ended becomes the agent's child. Such a child is a worker's for certain: it is not in the
agent's own session, and the agent starts nothing but workers in sessions of their own. Which
worker's it is, nobody can tell. So it lives until no worker is left that could have started it.

Orphans of an adopted worker go to init, as that worker is not our descendant.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Collection

from steelyard.runtime.procfs import Process, Stat, all_stats

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Orphans:
    """The children that this process has without having started them."""

    def __init__(self, workers: Callable[[], Collection[Process]]) -> None:
        """`workers` are those whose leaders live."""
        self._workers = workers
        self._before: set[Process] = set()
        self._ours = False

    def take(self) -> None:
        """Have them come to this process from now on."""
        self._before = {stat.process for stat in self._children()}
        self._ours = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0

    def left_by(self, worker: Process) -> list[Process]:
        """Living orphans that this worker may have left, and no worker that lives."""
        if not self._ours:
            return []
        children = self._children()
        others = [
            stat.process.started
            for stat in children
            if stat.process in self._workers() and stat.process != worker
        ]
        oldest = min(others, default=float("inf"))
        return [
            stat.process
            for stat in children
            if stat.alive
            and self._is_orphan(stat)
            and worker.started <= stat.process.started < oldest
        ]

    def reap(self, known: Collection[Process]) -> None:
        """Take the zombies among them away; `known` are workers, which are reaped when swept."""
        for stat in self._children() if self._ours else ():
            if not stat.alive and stat.process not in known and self._is_orphan(stat):
                with contextlib.suppress(ChildProcessError):
                    os.waitid(os.P_PID, stat.process.pid, os.WEXITED | os.WNOHANG)

    def _is_orphan(self, stat: Stat) -> bool:
        own = stat.session == os.getsid(0) or stat.process in self._before
        return not own and stat.process not in self._workers()

    @staticmethod
    def _children() -> list[Stat]:
        return [stat for stat in all_stats() if stat.parent == os.getpid()]
