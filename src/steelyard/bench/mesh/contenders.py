"""The ways to run units, and what they need."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import steelyard
from steelyard.bench import tools, venv

DRIVERS = Path(__file__).parent / "drivers"
WORKERS = 4


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to run units."""

    name: str
    script: str
    arguments: tuple[int, ...]
    package: str = ""  # from PyPI, in the private environment; empty: it is in ours
    redis: bool = False

    @property
    def words(self) -> list[str]:
        """The command line of its driver."""
        python = str(venv.venv_python()) if self.package else sys.executable
        return [python, str(DRIVERS / f"{self.script}.py"), *map(str, self.arguments)]

    def missing(self) -> str:
        """Why it cannot be measured; empty if it can."""
        if self.package and not venv.has(self.package):
            return f"{self.package} is not installed and could not be"
        return tools.why_missing("redis-server") if self.redis else ""

    def version(self) -> str:
        """The version that is measured."""
        if self.package:
            return venv.version(self.package)
        return steelyard.__version__ if self.script == "drive_mesh" else sys.version.split()[0]


MESH = "steelyard, 1 node"
BARE = "bare processes"
EXECUTOR = "ProcessPoolExecutor"
RAY = "Ray"
DASK = "Dask"


def contenders() -> dict[str, Contender]:
    """All contenders, ours first."""
    every = (
        Contender(MESH, "drive_mesh", (1, WORKERS)),
        Contender("steelyard, 4 nodes", "drive_mesh", (WORKERS, 1)),
        Contender(BARE, "drive_bare", (WORKERS,)),
        Contender(EXECUTOR, "drive_futures", (WORKERS, 1)),
        Contender("ProcessPoolExecutor, chunks of 8", "drive_futures", (WORKERS, 8)),
        Contender("multiprocessing.Pool", "drive_pool", (WORKERS, 1)),
        Contender("multiprocessing.Pool, chunks of 8", "drive_pool", (WORKERS, 8)),
        Contender(RAY, "drive_ray", (WORKERS,), package="ray"),
        Contender("dramatiq + Redis", "drive_dramatiq", (WORKERS,), "dramatiq", redis=True),
        Contender("Celery + Redis", "drive_celery", (WORKERS,), "celery", redis=True),
        Contender(DASK, "drive_dask", (WORKERS,), package="distributed"),
    )
    return {one.name: one for one in every}


def packages(chosen: list[Contender]) -> list[str]:
    """The packages that these contenders need."""
    needed = {one.package for one in chosen if one.package}
    return sorted(needed | ({"redis"} if any(one.redis for one in chosen) else set()))
