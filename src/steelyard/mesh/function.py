"""Functions that are run as units: a node imports them by name; the rules say how units are run.

@mesh.unit(retries=3, deadline=60)
def render(tile): ...
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, overload

from steelyard.errors import UsageError
from steelyard.mesh.execution.functions import split
from steelyard.mesh.protocol.task import Rules

P = ParamSpec("P")
R = TypeVar("R")
MOST = 2**62  # bytes; for counts, as good as no limit


class UnitFunction(Generic[P, R]):
    """A function with rules. Calling it runs the function here, as usual."""

    __wrapped__: Callable[P, R]

    def __init__(self, function: Callable[P, R], rules: Rules) -> None:
        functools.update_wrapper(self, function)
        self.rules = rules

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.__wrapped__(*args, **kwargs)


@overload
def unit(function: Callable[P, R], /) -> UnitFunction[P, R]: ...


@overload
def unit(
    *,
    retries: int = ...,
    hedge: bool = ...,
    deadline: float | None = ...,
    memory: int | None = ...,
) -> Callable[[Callable[P, R]], UnitFunction[P, R]]: ...


def unit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    retries: int = 2,
    hedge: bool = True,
    deadline: float | None = None,
    memory: int | None = None,
) -> Any:
    """Mark a function as a unit of the mesh.

    retries   how often it is tried again after it crashed, hung or took too much memory; an
              exception is an answer and is not tried again
    hedge     whether a second node may try it when the first takes unusually long
    deadline  seconds that one run may take; then its child process is killed
    memory    bytes that one run may add to the memory of its child process
    """
    rules = checked(Rules(retries, hedge, deadline, memory))
    if function is not None:
        return UnitFunction(function, rules)
    return lambda wrapped: UnitFunction(wrapped, rules)


def checked(rules: Rules) -> Rules:
    """The same rules, as numbers that can be sent; impossible rules raise a UsageError."""
    retries, hedge, deadline, memory = rules
    return Rules(
        _whole("retries", retries, 0),
        _whether("hedge", hedge),
        None if deadline is None else seconds("deadline", deadline),
        None if memory is None else _whole("memory", memory, 1),
    )


def _whole(name: str, value: Any, least: int) -> int:
    try:
        whole = int(value)
        fits = whole == value and least <= whole <= MOST
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise UsageError(f"{name} = {value!r} is not possible", hint=f"{least}, {least + 1} …")
    return whole


def _whether(name: str, value: Any) -> bool:
    if value not in (True, False):
        raise UsageError(f"{name} = {value!r} is not possible", hint="True or False")
    return bool(value)


def seconds(name: str, value: Any, *, least: float = 0.0) -> float:
    """A number of seconds above `least`; anything else raises a UsageError."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = nan
    if not found > least:
        raise UsageError(f"{name} = {value!r} is not possible", hint="a number of seconds above 0")
    return found


def rules_of(function: Callable[..., Any] | str) -> Rules:
    """The rules of a function; one without `@mesh.unit` has the default rules."""
    return function.rules if isinstance(function, UnitFunction) else Rules()


def name_of(function: Callable[..., Any] | str) -> str:
    """The name `module:function`, under which every node can import it."""
    if isinstance(function, str):
        return ":".join(split(function))
    module = getattr(function, "__module__", None)
    path = getattr(function, "__qualname__", "<nameless>")
    # The object of a bound method; the method of a class is found by name.
    owner = getattr(function, "__self__", None)
    bound = owner is not None and not inspect.isclass(owner) and not inspect.ismodule(owner)
    if module is None or "<" in path or bound:
        raise UsageError(
            f"{function!r} has no name by which a node could import it",
            hint="use a function at the top of a module: no lambda, no function in a function, no "
            "method of an object",
        )
    return f"{_module_name(module)}:{path}"


def _module_name(module: str) -> str:
    """The module's name for others: a script knows itself as __main__, others know it by
    its file.
    """
    if module != "__main__":
        return module
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name)
    file = getattr(main, "__file__", None)
    if file is None or file.startswith("<"):
        raise UsageError(
            "a function that was typed in has no module that a node could import",
            hint="put it into a file",
        )
    return Path(file).stem
