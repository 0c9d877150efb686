"""What the tests' engines and namespaces need from this machine."""

from __future__ import annotations

import os

PATIENCE = 60.0  # seconds; the start of an engine takes about two
# dockerd and its helpers are in sbin, which is not in everybody's PATH.
PATH = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"


class EngineFailedError(AssertionError):
    """The engine did not start, or refused a request; the message has its last log lines."""


class KernelLacksError(EngineFailedError):
    """The engine cannot start at all, as the kernel does not allow it."""
