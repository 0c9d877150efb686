"""Purity: whether the hot path runs compiled or as plain Python.

Both use the same source: if a C compiler was available, extension modules lie beside their `.py`
files, and the interpreter prefers them. `STEELYARD_PURE=1` makes it load the `.py` files all the
same (to debug, to compare); `STEELYARD_PURE=0` refuses to run without the extension modules.
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
# Either all modules are compiled, or none.
WITNESS = Path(__file__).parent / "balancer" / "io" / "loop"


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
    """Whether extension modules exist, whether or not this process uses them."""
    return any(WITNESS.with_suffix(suffix).exists() for suffix in EXTENSION_SUFFIXES)


def is_compiled() -> bool:
    """Whether this process uses the extension modules."""
    return is_built() and os.environ.get(VARIABLE) != "1"


def build_name() -> str:
    """One word for the way this process runs the hot path."""
    return "compiled" if is_compiled() else "pure"


def explain_build() -> str:
    """The word of `build_name`, with a hint at the other build."""
    if is_compiled():
        return "compiled"
    if is_built():
        return f"pure: plain Python, as {VARIABLE}=1 asks"
    return "pure: plain Python, which is slower; with a C compiler, `make build` compiles it"


def enforce() -> None:
    """Apply the environment variable; called once, before anything else is imported."""
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
