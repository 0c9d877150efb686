"""Reads what nodes logged about a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Stay(NamedTuple):
    """The time that one unit spent at one node."""

    unit: int
    begin: float
    end: float
    done: bool


def read(file: Path, until: float) -> list[Stay]:
    """The stays at one node. It does one unit at a time, so a stay that was stopped ended when the
    next one began, or with the node, or with the job.
    """
    stays: list[Stay] = []
    for line in file.read_text().splitlines() if file.exists() else []:
        what, unit, at = line.split()
        time = float(at)
        if stays and not stays[-1].done:
            stays[-1] = stays[-1]._replace(end=time, done=what == "end")
        if what == "begin":
            stays.append(Stay(int(unit), time, max(time, until), done=False))
    return stays


def busy(stays: Mapping[int, Sequence[Stay]], speeds: Sequence[float]) -> float:
    """The work that was done, in seconds at speed 1."""
    return sum(speeds[node] * (one.end - one.begin) for node in stays for one in stays[node])


def lost(stays: Mapping[int, Sequence[Stay]], speeds: Sequence[float]) -> float:
    """The work that was done for nothing: all stays of a unit but the one that ended first."""
    ended = sorted((one.end, one.unit, node) for node in stays for one in stays[node] if one.done)
    first = {unit: (end, node) for end, unit, node in reversed(ended)}
    return sum(
        speeds[node] * (one.end - one.begin)
        for node in stays
        for one in stays[node]
        if first.get(one.unit) != (one.end, node) or not one.done
    )
