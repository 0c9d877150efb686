"""Files with secrets: made once, whole, and readable by their owner only."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def make_private(path: Path, text: str) -> None:
    """Write the text to a new file with mode 0600; leave a file that exists as it is.

    The file appears whole or not at all: another process may read it at once, and a disk may be
    full.
    """
    if path.exists():
        return
    descriptor, new = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text + "\n")
        with suppress(FileExistsError):  # another process was faster: its file counts
            os.link(new, path)
    finally:
        os.unlink(new)
