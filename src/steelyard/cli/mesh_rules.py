"""The rules for the units of `steelyard mesh run`.

They are those given to `@mesh.unit`, if the function can be imported here, except where the command
line sets them. The function is looked up in a separate process: a module may print, exit or start
threads when it is imported, which must not affect the command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import steelyard
from steelyard import python
from steelyard.cli.mesh_common import load
from steelyard.errors import Fault, SteelyardError
from steelyard.parent import end_with

if TYPE_CHECKING:
    from steelyard.mesh.protocol.task import Rules

PATIENCE = 60.0  # seconds; some libraries take long to import


class BrokenModuleError(SteelyardError):
    """A module raises when it is imported."""

    fault = Fault.APPLICATION


class Found(NamedTuple):
    """The result of looking up a function or a module."""

    rules: list[Any] | None = None
    trouble: str = ""  # why there are no rules
    mend: str = ""  # what to do about a module that raises; empty for a missing module


def rules_for(function: str, **said: Any) -> tuple[Rules, str]:
    """The function's rules, overridden by each `said` that is not None; and a note for people."""
    found = look_up(function)
    kind = load("protocol.task").Rules
    rules: Rules = kind() if found.rules is None else kind(*found.rules)
    note = ""
    if found.trouble:
        note = (
            f"{found.trouble}; the settings of its @mesh.unit are not known here and do not apply"
        )
    return rules._replace(**{k: v for k, v in said.items() if v is not None}), note


def explain(names: list[str], error: SteelyardError) -> SteelyardError:
    """Why these cannot be served: an error of a module's import, or else the given error."""
    for name in names:
        found = look_up(name)
        if found.mend:
            return BrokenModuleError(found.trouble, hint=found.mend)
    return error


def look_up(name: str) -> Found:
    """Look up `module:function`, or only a module, as it would be imported."""
    words = python.module("steelyard.cli.mesh_rules", str(os.getpid()), name)
    quiet = subprocess.DEVNULL  # standard input may hold the units
    try:
        done = subprocess.run(
            words, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, timeout=PATIENCE
        )
        return Found(*json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return Found(trouble=f"{name} is not imported after {PATIENCE:g} s")
    except ValueError:  # the process was killed before it could answer
        return Found(trouble=f"{name} ends Python when it is imported ({done.returncode})")


# The functions below run in the other process.


def _answer(name: str) -> None:
    """Print the result; redirect standard output meanwhile, as the module may print."""
    answer, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    told = _found(name)
    with os.fdopen(answer, "w") as file:
        file.write(told)
    os._exit(0)  # do not wait for threads that the module started


def _found(name: str) -> str:
    try:
        if ":" not in name:
            import_module(name)
            return json.dumps(Found())
        rules = load("function").rules_of(load("execution.functions").find(name))
        return json.dumps(Found(list(rules)))
    except BaseException as error:  # a module may exit, too
        return json.dumps(_trouble(name.partition(":")[0], error))


def _trouble(module: str, error: BaseException) -> Found:
    unknown, cause = load("execution.functions").UnknownFunctionError, error
    if isinstance(error, unknown):
        cause = error.__cause__ or error.__context__ or error
    if isinstance(cause, ModuleNotFoundError) and f"{module}.".startswith(f"{cause.name}."):
        return Found(trouble=f"there is no module {cause.name} here")
    if isinstance(cause, unknown):
        return Found(trouble=str(cause.message))
    first = str(getattr(cause, "msg", cause)).partition("\n")[0]
    what = f"{type(cause).__name__}: {first}{_place(cause)}"
    mend = f"fix the module; python -c 'import {module}' shows the traceback"
    if isinstance(cause, ModuleNotFoundError):
        mend = f"install {cause.name} for {sys.executable}"
    return Found(trouble=f"{module} cannot be imported: {what}", mend=mend)


def _place(error: BaseException) -> str:
    """The last frame of the user's own code, which the user can fix."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}, line {error.lineno})"
    paths = ("stdlib", "platstdlib", "purelib", "platlib")
    others = {sysconfig.get_path(name) for name in paths} | {str(Path(steelyard.__file__).parent)}
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not one.filename.startswith(("<", *others))]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    load("function")
    python.import_late_ones()
    sys.path.insert(0, os.getcwd())
    _answer(sys.argv[2])
