"""Finds functions by name: "module:function", or "module:name.name" for a nested name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from steelyard.errors import Fault, SteelyardError


class UnknownFunctionError(SteelyardError):
    """This node has no such function."""

    fault = Fault.USER


def split(name: str) -> tuple[str, str]:
    """Split the name into the module and the name inside it."""
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise UnknownFunctionError(
            f"“{name}” is not the name of a function", hint="write module:function"
        )
    return module, path


def find(name: str) -> Callable[..., Any]:
    """Import the function's module and return the function, or raise a clear error."""
    module_name, path = split(name)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UnknownFunctionError(
            f"no module {error.name} here, for {name}",
            hint="install it on every node, or start the node in its folder",
        ) from None
    except Exception as error:
        raise UnknownFunctionError(
            f"{module_name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise UnknownFunctionError(f"{module_name} has no {path}, for {name}")
        found = getattr(found, part)
    if not callable(found):
        raise UnknownFunctionError(f"{name} is not a function")
    return found  # type: ignore[no-any-return]
