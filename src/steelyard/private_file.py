"""Files with secrets: created once, complete, and readable only by their owner."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def make_private(path: Path, text: str) -> None:
    """Write the text to a new file with mode 0600; leave an existing file as it is.

    The file appears complete or not at all: another process may read it at once, and the disk may
    be full.
    """
    if path.exists():
        return
    descriptor, new = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text + "\n")
        with suppress(FileExistsError):  # another process was faster, and its file stays
            os.link(new, path)
    finally:
        os.unlink(new)
