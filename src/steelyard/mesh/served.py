"""Which functions a node serves, from what a person wrote: `module:function`, or `module` for all
of its units.

Looked up in a process of its own: what an application's module imports, and may do when it is
imported, is nothing for the node, whose children have it anyway.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from steelyard.errors import Fault, SteelyardError
from steelyard.mesh.execution.functions import find
from steelyard.mesh.function import UnitFunction


class NotServedError(SteelyardError):
    """There is no such function to serve."""

    fault = Fault.USER


def served(wanted: Sequence[str]) -> tuple[str, ...]:
    """The names of the functions; each of them can be imported."""
    done = subprocess.run(
        [sys.executable, "-m", "steelyard.mesh.served", *wanted], capture_output=True, text=True
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise NotServedError(
            f"{' '.join(wanted)} cannot be looked up: {last}",
            hint="start the node in the folder of the module, or install it",
        )
    told = json.loads(done.stdout.splitlines()[-1])  # modules may print what they like before
    if "error" in told:
        raise NotServedError(told["error"], hint=told["hint"])
    return tuple(told["functions"])


def _look_up(wanted: Sequence[str]) -> dict[str, object]:
    try:
        return {"functions": sorted({name for one in wanted for name in _names(one)})}
    except SteelyardError as error:
        hint = error.hint or "write module:function, as it would be imported"
        return {"error": error.message, "hint": hint}


def _names(wanted: str) -> Iterator[str]:
    if ":" in wanted:
        find(wanted)
        yield wanted
        return
    try:
        module = import_module(wanted)
    except ModuleNotFoundError as error:
        raise NotServedError(
            f"there is no module {error.name}", hint="install it, or start in its folder"
        ) from None
    units = [name for name, value in vars(module).items() if isinstance(value, UnitFunction)]
    if not units:
        raise NotServedError(
            f"{wanted} has no function marked with @mesh.unit",
            hint=f"mark one, or name it: {wanted}:function",
        )
    yield from (f"{wanted}:{name}" for name in units)


if __name__ == "__main__":
    sys.stdout.write(f"\n{json.dumps(_look_up(sys.argv[1:]))}\n")
    sys.stdout.flush()
    os._exit(0)  # before a module prints something at the end, or waits for its threads
