"""Starts Python processes of our own, which import nothing from the working folder.

`python -m` puts the working folder in front of the standard library, so an `http.py` beside the
user's application would run inside the gateway, with the gateway's rights. `-P` leaves the folder
out. `-I` would leave out PYTHONPATH and the user's site-packages as well, where Steelyard itself
may be installed; both are the choice of the user who started us, the working folder is not.

`-P` is not inherited: a worker's command finds its modules as it does without Steelyard.
"""

from __future__ import annotations

import sys
from importlib import import_module

# Modules that the standard library imports only when they are needed: for a traceback, a warning, a
# group of exceptions, the end of a process. Modules like `multiprocessing` are left to the units.
_LATE = (
    "_colorize", "ast", "atexit", "codeop", "contextlib", "copyreg", "dis", "enum",
    "inspect", "io", "linecache", "locale", "opcode", "random", "re", "shutil", "signal", "string",
    "struct", "tempfile", "textwrap", "threading", "token", "tokenize", "traceback", "types",
    "typing", "warnings", "weakref",
)  # fmt: skip


def module(name: str, *words: str) -> list[str]:
    """The command line that runs a module of ours."""
    return [sys.executable, "-P", "-m", name, *words]


def import_late_ones() -> None:
    """Import what this process may need later, before the user's folder is put on the path.

    A process that runs units has to import from that folder. A module that is imported already
    cannot be shadowed by one of the same name in the folder.
    """
    for name in _LATE:
        if name in sys.stdlib_module_names:  # older versions of Python lack some of them
            import_module(name)
