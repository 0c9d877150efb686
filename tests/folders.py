"""Looking through folders from which other processes remove files and folders meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def below(root: Path, name: str) -> Iterator[Path]:
    """Every file and folder of this name below the root.

    `Path.glob` raises when a folder is removed while it looks; `os.walk` passes over it.
    """
    for folder, folders, files in os.walk(root):
        if name in folders or name in files:
            yield Path(folder, name)
