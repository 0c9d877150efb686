"""The limits that this machine can enforce on a worker, and the control groups that hold them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from steelyard.core.usage import Allowance
from steelyard.runtime import cgroup

_CONTAINMENT = "containment"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that this machine can enforce: its controller, the place of its groups, its value."""

    hierarchy: cgroup.Hierarchy
    place: Path
    value: float


class Limits:
    """The limits of one application's workers."""

    def __init__(self, root: Path, application: str, home: str, wanted: Allowance) -> None:
        self.notes: list[str] = []
        self._root = root
        # Two agents may run applications of the same name, with workers of the same names. The hash
        # of the state folder keeps them apart, so that they do not share a limit.
        folder = hashlib.md5(home.encode(), usedforsecurity=False).hexdigest()[:8]
        self._path = Path("steelyard") / f"{application}-{folder}"
        self._wanted = {"cpu": wanted.cpus, "memory": wanted.memory}
        self._limits: dict[str, Limit] = {}

    def open(self) -> None:
        """Find out by trial which limits this machine can enforce, and note the others."""
        self.notes.clear()
        for controller, value in self._wanted.items():
            if value is not None:
                self._try(controller, cgroup.find_hierarchy(self._root, controller), value)
        self._contain()

    @property
    def allowance(self) -> Allowance:
        """The limits in force for every worker started from now on."""
        cpu, memory = self._limits.get("cpu"), self._limits.get("memory")
        return Allowance(
            cpus=cgroup.cpu_quota(cpu.value) / cgroup.PERIOD if cpu else None,
            memory=int(memory.value) if memory else None,
        )

    @property
    def contained(self) -> bool:
        """Whether each worker has a control group that holds all its processes."""
        return bool(self._limits)

    def make(self, name: str) -> tuple[Path, ...]:
        """Create the control groups of a worker, one per hierarchy."""
        groups = [
            cgroup.make_group(limit.hierarchy, limit.place, self._path / name, limit.value)
            for limit in self._limits.values()
        ]
        return tuple(dict.fromkeys(groups))

    def tidy(self, running: Collection[str]) -> None:
        """Delete the groups of workers that ended while no agent was running."""
        for limit in self._limits.values():
            home = limit.place / self._path
            for group in home.iterdir() if home.is_dir() else ():
                if group.is_dir() and group.name not in running:
                    cgroup.remove_group(group)
            cgroup.remove_group(home)
            cgroup.remove_group(home.parent)

    def _contain(self) -> None:
        """Give each worker a group that holds all its processes, whether it has limits or not.

        Nobody asked for this group, so a machine that cannot make one gets no note.
        """
        hierarchy = cgroup.find_containment(self._root)
        if hierarchy is not None:
            self._try(_CONTAINMENT, hierarchy, 0.0)

    def _try(self, controller: str, hierarchy: cgroup.Hierarchy | None, value: float) -> None:
        if hierarchy is None:
            self._note(controller, f"{self._root} has no {controller} controller")
            return
        memberships = Path("/proc/self/cgroup").read_text()
        reasons = []
        for place in cgroup.places(hierarchy, memberships):
            try:
                self._trial(hierarchy, place, value)
            except OSError as error:
                reasons.append(str(error))
            else:
                self._limits[controller] = Limit(hierarchy, place, value)
                return
        self._note(controller, reasons[0])

    def _trial(self, hierarchy: cgroup.Hierarchy, place: Path, value: float) -> None:
        group = place / self._path / f"trial-{os.getpid()}"
        try:
            cgroup.make_group(hierarchy, place, group.relative_to(place), value)
            cgroup.try_joining(group)
        finally:
            for path in (group, group.parent, group.parent.parent):
                cgroup.remove_group(path)

    def _note(self, controller: str, reason: str) -> None:
        if controller == _CONTAINMENT:
            return
        key = {"cpu": "cpus", "memory": "memory"}[controller]
        self.notes.append(f"runtime.{key} = {self._wanted[controller]} is not enforced: {reason}")
