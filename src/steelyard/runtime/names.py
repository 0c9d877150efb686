"""The grammar of worker names.

A worker's name becomes the name of a file, a label and a word in the log. A name that arrives from
outside (an environment, a label, a request to the API) is checked here before it becomes any of
them.
"""

from __future__ import annotations

import re

# Docker's grammar for names of containers, with a bound that leaves room for a file's suffix.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


def is_worker_name(text: str) -> bool:
    """Whether a worker may have this name."""
    return _NAME.fullmatch(text) is not None
