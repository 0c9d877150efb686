"""The log of each process: one line per message, to standard error.

Nobody reads the standard error of a process that outlives its supervisor: such a process logs to a
file.
"""

from __future__ import annotations

import logging
import os
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

LARGEST = 2**20  # bytes of such a file; one older file is kept, too


def set_up_logging(part: str, level: str) -> None:
    """Send the messages of this process, marked with the name of its part, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(f"%(asctime)s {part:<10} %(message)s", "%H:%M:%S"))
    root = logging.getLogger("steelyard")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False


def log_to_file(path: Path) -> None:
    """Send the messages of this process to a file from now on.

    Standard error becomes /dev/null: other writers to it are discarded, and cannot fail.
    """
    root = logging.getLogger("steelyard")
    handler = RotatingFileHandler(path, maxBytes=LARGEST, backupCount=1, delay=True)
    handler.setFormatter(root.handlers[0].formatter if root.handlers else None)
    root.handlers[:] = [handler]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stderr.fileno())
    os.close(nowhere)
