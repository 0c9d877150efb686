"""The cases that are measured."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from steelyard.select import KEYED, POLICIES

FEW = 8  # connections, as in the article
SIZES = (FEW, 100, 1_000, 10_000, 100_000)
MANY = 10_000  # members in the table of all policies
THREADS = 4

BASELINE = "locked_random"
RING = "weighted_ring"
# The article's contenders with its figures in ns (.NET on another machine), and ours.
ARTICLE = {
    BASELINE: 26.52,
    "thread_local_random": 22.61,
    "shuffled_modulo": 13.13,
    "linked_ring": 10.08,
}
TABLE = (*ARTICLE, RING)
RINGS = ("linked_ring", RING)


class Build(StrEnum):
    """Whether our code is compiled or pure."""

    COMPILED = "compiled"
    PURE = "pure"


class Kind(StrEnum):
    """The operation that is timed."""

    PICK = "pick"  # `selector.pick()` in a Python loop
    STRIDE = "stride"  # the same in a compiled loop
    REBUILD = "rebuild"  # making a selector from new weights
    READ = "read"  # the control: `slots[number]` of a plain list, in a Python loop


class Case(BaseModel):
    """One cell of a table."""

    model_config = ConfigDict(frozen=True)

    build: Build
    kind: Kind
    policy: str
    members: int = FEW
    threads: int = 1


def cases(builds: list[Build], most: int) -> list[Case]:
    """All cases, each once, with at most so many members."""
    found: dict[Case, None] = {}
    for build in builds:
        found |= dict.fromkeys(_table(build) + _growth(build) + _policies(build))
    return [case for case in found if case.members <= most]


def _table(build: Build) -> list[Case]:
    return [
        Case(build=build, kind=Kind.PICK, policy=policy, threads=threads)
        for policy in TABLE
        for threads in (1, THREADS)
    ]


def _growth(build: Build) -> list[Case]:
    kinds = [Kind.PICK, Kind.REBUILD, Kind.STRIDE if build is Build.COMPILED else Kind.READ]
    return [Case(build=build, kind=kind, policy=RING, members=members)
            for members in SIZES for kind in kinds]  # fmt: skip


def _policies(build: Build) -> list[Case]:
    return [Case(build=build, kind=Kind.PICK, policy=policy, members=members)
            for policy in (*POLICIES, *KEYED) for members in (FEW, MANY)]  # fmt: skip
