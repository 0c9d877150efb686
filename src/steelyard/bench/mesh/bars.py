"""The goals of the mesh (issue 6), and whether this run reached them."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.bench.mesh.contenders import BARE, DASK, EXECUTOR, MESH, RAY
from steelyard.bench.mesh.report import Line, Verdict
from steelyard.bench.stats import ratio

RATIOS = ((EXECUTOR, 1.0), (RAY, 0.5), (DASK, 0.1))
IDEAL = 0.95


def judge(lines: Sequence[Line], short: str, long: str) -> list[Verdict]:
    """Judge the overhead of short units against other tools, and long units against the ideal.

    Long units are also compared with bare processes of the same run: on a shared machine two cores
    do less than two cores' work.
    """
    overhead = {line.contender: line.wall_us for line in lines if line.case == short}
    ideals = {line.contender: line.ideal for line in lines if line.case == long}
    verdicts = [
        _verdict(
            f"wall overhead per unit, of {other}'s",
            f"at most {most:g}",
            found := ratio(overhead.get(MESH), overhead.get(other)),
            kept=found is not None and found <= most,
        )
        for other, most in RATIOS
    ]
    reached = ideals.get(MESH)
    close = {
        f"of the ideal, {long}": reached,
        f"of what bare processes reach, {long}": ratio(reached, ideals.get(BARE)),
    }
    return verdicts + [
        _verdict(what, f"at least {IDEAL:g}", found, kept=found is not None and found >= IDEAL)
        for what, found in close.items()
    ]


def _verdict(what: str, bar: str, found: float | None, *, kept: bool) -> Verdict:
    return Verdict(what=what, bar=bar, found=found, kept=None if found is None else kept)
