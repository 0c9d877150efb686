"""The token that guards the API: created at the first start, readable only by its owner."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from steelyard.errors import UsageError
from steelyard.private_file import make_private


def ensure_token(path: Path) -> str:
    """The token in the file; a new one if there is no file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private(path, secrets.token_urlsafe(32))
        _require_own(path)
    except OSError as error:
        raise UsageError(
            f"no token can be kept at {path}: {error.strerror}", hint="choose another --state"
        ) from error
    return read_token(path)


def _require_own(path: Path) -> None:
    """Raise UsageError if another user planted the token, by a file or a link."""
    link, file = path.lstat(), path.stat()
    if {link.st_uid, file.st_uid} - {0, os.geteuid()} or stat.S_IMODE(file.st_mode) & 0o022:
        raise UsageError(
            f"another user wrote the token at {path}, or could write it",
            hint="choose another --state, or delete the file: the next start makes a new one",
        )


def read_token(path: Path) -> str:
    """Read the token that the agent wrote for other programs of its user."""
    try:
        token = path.read_text().strip()
    except FileNotFoundError:
        raise UsageError(
            f"no token at {path}",
            hint="the agent writes it on its first start: is an agent running with this --state?",
        ) from None
    except PermissionError:
        raise UsageError(
            f"the token at {path} belongs to another user", hint="run this as the agent's user"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"no token at {path}: {error}", hint="is --state right?") from None
    if not token:
        raise UsageError(f"the token at {path} is empty", hint="delete the file, restart the agent")
    if not (token.isascii() and token.isprintable()):
        raise UsageError(
            f"the file {path} holds no token", hint="delete the file, restart the agent"
        )
    return token
