"""By which rules the units of `steelyard mesh run` go: those that `@mesh.unit` says, where the
function can be imported, but for what the command line says itself.

Looked up in a process of its own: a module may print, exit or start threads when it is imported,
and none of that is for the command that asks.
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
    """What came of looking for a function, or for a module."""

    rules: list[Any] | None = None
    trouble: str = ""  # why there are none
    mend: str = ""  # what to do about a module that raises; of one that is not here, nothing


def rules_for(function: str, **said: Any) -> tuple[Rules, str]:
    """Its rules, but for those that are said and not None; and what a person should know."""
    found = look_up(function)
    kind = load("protocol.task").Rules
    rules: Rules = kind() if found.rules is None else kind(*found.rules)
    note = ""
    if found.trouble:
        note = f"{found.trouble}; so what @mesh.unit says of it is not known here, and not kept"
    return rules._replace(**{k: v for k, v in said.items() if v is not None}), note


def explain(names: list[str], error: SteelyardError) -> SteelyardError:
    """Why these cannot be served: where a module raises, or else what is known already."""
    for name in names:
        found = look_up(name)
        if found.mend:
            return BrokenModuleError(found.trouble, hint=found.mend)
    return error


def look_up(name: str) -> Found:
    """A function by `module:function`, or only a module; from where it would be imported."""
    words = python.module("steelyard.cli.mesh_rules", str(os.getpid()), name)
    quiet = subprocess.DEVNULL  # standard input may be the units
    try:
        done = subprocess.run(
            words, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, timeout=PATIENCE
        )
        return Found(*json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return Found(trouble=f"{name} is not imported after {PATIENCE:g} s")
    except ValueError:  # it was killed before it had anything to say
        return Found(trouble=f"{name} ends Python when it is imported ({done.returncode})")


# In the other process.


def _answer(name: str) -> None:
    """Say what is found; nothing that the module writes gets in between."""
    answer, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    told = _found(name)
    with os.fdopen(answer, "w") as file:
        file.write(told)
    os._exit(0)  # threads that the module started are not waited for


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
    mend = f"mend it; python -c 'import {module}' shows all of it"
    if isinstance(cause, ModuleNotFoundError):
        mend = f"install {cause.name} for {sys.executable}"
    return Found(trouble=f"{module} cannot be imported: {what}", mend=mend)


def _place(error: BaseException) -> str:
    """The last line that is not of a library: the user's, who can mend it."""
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
