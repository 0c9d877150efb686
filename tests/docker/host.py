"""What the tests' engines and namespaces need of this machine."""

from __future__ import annotations

import os

PATIENCE = 60.0  # seconds; the start of an engine takes about two
# dockerd and its helpers are in sbin, which is not in everybody's PATH.
PATH = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"


class EngineFailedError(AssertionError):
    """The engine did not start, or refused; with its last words."""


class KernelLacksError(EngineFailedError):
    """The engine never could start: the kernel does not let us."""
