"""Purity: whether the hot path runs compiled or as plain Python.

The same source serves both: where a C compiler was at hand, extension modules lie beside their
`.py` files and the interpreter prefers them. `STEELYARD_PURE=1` makes it read the `.py` files all
the same (to debug, to compare); `STEELYARD_PURE=0` refuses to run without the extension modules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

VARIABLE = "STEELYARD_PURE"
PACKAGES = ("steelyard.balancer", "steelyard.select")  # with the packages inside them
_PREFIXES = tuple(f"{package}." for package in PACKAGES)
WITNESS = Path(__file__).parent / "balancer" / "io" / "loop"  # all are compiled, or none


class PureFinder:
    """Finds the modules of our compiled packages, and of packages inside them, by their source.

    A package itself is left to the ordinary finder: only modules are compiled.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, module = name.rpartition(".")
        if not f"{package}.".startswith(_PREFIXES):
            return None
        for place in path or ():
            source = Path(place, module + ".py")
            if source.is_file():
                return spec_from_file_location(name, source)
        return None


def is_built() -> bool:
    """Whether extension modules are there, whatever this process uses."""
    return any(WITNESS.with_suffix(suffix).exists() for suffix in EXTENSION_SUFFIXES)


def is_compiled() -> bool:
    """Whether this process uses them."""
    return is_built() and os.environ.get(VARIABLE) != "1"


def build_name() -> str:
    """One word for how this process runs the hot path."""
    return "compiled" if is_compiled() else "pure"


def explain_build() -> str:
    """The word, and how the other build is had."""
    if is_compiled():
        return "compiled"
    if is_built():
        return f"pure: plain Python, as {VARIABLE}=1 asks"
    return "pure: plain Python, which is slower; where there is a C compiler, `make build` compiles"


def enforce() -> None:
    """Do what the environment variable says; called once, before anything else is imported."""
    wish = os.environ.get(VARIABLE, "")
    if wish == "1":
        sys.meta_path.insert(0, PureFinder)
    elif wish == "0" and not is_compiled():
        raise ImportError(
            f"{VARIABLE}=0 asks for the compiled hot path, which is not built here: "
            "`make build` builds it where there is a C compiler, or unset the variable"
        )
    elif wish not in ("", "0"):
        raise ImportError(f"{VARIABLE} is 1 (plain Python) or 0 (compiled only), not {wish!r}")
