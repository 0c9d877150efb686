"""Orphans: makes processes whose parent has ended children of the agent.

That is done where no control group can be made. The agent is a child subreaper then
(PR_SET_CHILD_SUBREAPER, prctl(2)): a descendant whose parent has ended becomes the agent's child.
Such a child certainly came from a worker: it is not in the agent's own session, and the agent
starts nothing but workers in sessions of their own. But nobody can tell which worker it came from.
So it lives until no worker is left that could have started it.

Orphans of an adopted worker go to init, as that worker is not a descendant of this agent.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Collection

from steelyard.runtime.procfs import Process, Stat, all_stats

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Orphans:
    """The children of this process that it did not start itself."""

    def __init__(self, workers: Callable[[], Collection[Process]]) -> None:
        """`workers` returns the workers whose leaders live."""
        self._workers = workers
        self._before: set[Process] = set()
        self._ours = False

    def take(self) -> None:
        """Let the orphans of our descendants become children of this process from now on."""
        self._before = {stat.process for stat in self._children()}
        self._ours = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0

    def left_by(self, worker: Process) -> list[Process]:
        """Living orphans that this worker may have left, and no living worker can have left."""
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
        """Reap the zombies among the orphans, but not `known`, which are workers."""
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
