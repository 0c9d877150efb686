"""Which functions a node serves, from what a person wrote: `module:function`, or `module` for all
of its units.

The names are looked up in another process: the node itself does not need an application's module,
nor what it imports or does when it is imported. The node's children import it anyway.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from steelyard import python
from steelyard.errors import Fault, SteelyardError
from steelyard.mesh.execution.functions import find
from steelyard.mesh.function import UnitFunction
from steelyard.parent import end_with

log = logging.getLogger(__name__)


SLOW, PATIENCE = 5.0, 55.0  # seconds; some libraries take long to import


class NotServedError(SteelyardError):
    """There is no such function to serve."""

    fault = Fault.USER


def served(wanted: Sequence[str]) -> tuple[str, ...]:
    """The names of the functions; each of them can be imported."""
    told, last = _answer(wanted)
    if told is None:
        raise NotServedError(
            f"{' '.join(wanted)} cannot be looked up: {last}",
            hint="start the node in the folder of the module, or install it",
        )
    if "error" in told:
        raise NotServedError(told["error"], hint=told["hint"])
    return tuple(told["functions"])


def _answer(wanted: Sequence[str]) -> tuple[dict[str, Any] | None, str]:
    """The answer of the other process, or the last line of its errors."""
    words = python.module("steelyard.mesh.served", str(os.getpid()), *wanted)
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            out, errors = _wait(process, " ".join(wanted))
        finally:
            process.kill()
    if process.returncode:
        return None, (errors.strip().splitlines() or ["it gave no reason"])[-1]
    return json.loads(out.splitlines()[-1]), ""  # modules may print before it


def _wait(process: subprocess.Popen[str], wanted: str) -> tuple[str, str]:
    try:
        return process.communicate(timeout=SLOW)
    except subprocess.TimeoutExpired:
        log.warning("%s is still being imported after %g s", wanted, SLOW)
    try:
        return process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise NotServedError(
            f"{wanted} is not imported after {SLOW + PATIENCE:g} s",
            hint="code that is not a definition, such as a job of the module's own, belongs "
            'under `if __name__ == "__main__":`',
        ) from None


# From here on, code of the other process.


def _look_up(wanted: Sequence[str]) -> dict[str, object]:
    try:
        return {"functions": sorted({name for one in wanted for name in _names(one)})}
    except SteelyardError as error:
        hint = error.hint or "write module:function, as it would be imported"
        return {"error": error.message, "hint": hint}


def _names(wanted: str) -> Iterator[str]:
    if ":" in wanted or not wanted:
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
    end_with(int(sys.argv[1]))
    python.import_late_ones()
    sys.path.insert(0, os.getcwd())
    sys.stdout.write(f"\n{json.dumps(_look_up(sys.argv[2:]))}\n")
    sys.stdout.flush()
    os._exit(0)  # at once: a module must not print at exit, or wait for its threads
