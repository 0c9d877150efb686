"""The application's folder in the state folder: made private before anything in it is opened."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import UsageError
from steelyard.private_folder import make_private_folder


def open_state_folder(folder: Path) -> None:
    """Make the folder private; raise UsageError if another user could change it."""
    try:
        make_private_folder(folder)
    except OSError as error:
        raise UsageError(
            f"the state folder {folder} cannot be used: {error.strerror}",
            hint="choose another with --state",
        ) from error
