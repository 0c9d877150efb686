"""Folders that no other user may write to.

A user with write access could put a link in the place of a file that we write, or another secret in
the place of ours.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from steelyard.errors import UsageError

_PRIVATE = 0o700


def make_private_folder(folder: Path) -> None:
    """Create the folder, or take away the access of other users to a folder of ours.

    Raise UsageError if another user could still write to it or replace it, OSError if it cannot be
    made.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
    _require_own(folder)
    _require_closed(folder.resolve().parent)


def _require_own(folder: Path) -> None:
    """Raise UsageError for a folder of another user; take other users' access to ours away."""
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise UsageError(
            f"the state folder {folder} belongs to another user (uid {found.st_uid})",
            hint="choose another --state, or give the folder to the agent's user with chown",
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(_PRIVATE)


def _require_closed(parent: Path) -> None:
    """Raise UsageError if another user could put a folder of their own in the place of ours."""
    found = parent.stat()
    owned = found.st_uid in (0, os.geteuid())
    if not owned or (found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX):
        raise UsageError(
            f"other users can write to {parent}, and so replace the state folder in it",
            hint="choose another --state, or close the folder with chown and chmod o-w",
        )
