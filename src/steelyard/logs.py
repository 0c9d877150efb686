"""How every part writes about itself: one line per message, to standard error."""

from __future__ import annotations

import logging
import sys


def set_up_logging(part: str, level: str) -> None:
    """Send the messages of this process, marked with its part, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(f"%(asctime)s {part:<10} %(message)s", "%H:%M:%S"))
    root = logging.getLogger("steelyard")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False
