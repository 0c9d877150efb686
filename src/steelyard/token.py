"""The token that guards the API: made on the first start, readable by its owner only."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from steelyard.errors import UsageError


def ensure_token(path: Path) -> str:
    """The token in the file; a new one when there is no file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(path)
    except OSError as error:
        raise UsageError(
            f"no token can be kept at {path}: {error.strerror}", hint="choose another --state"
        ) from error
    return read_token(path)


def _make(path: Path) -> None:
    """Whole or not at all: others may read it at once, and a disk may be full."""
    if path.exists():
        return
    descriptor, new = tempfile.mkstemp(prefix=".token-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
        with suppress(FileExistsError):  # somebody was faster: then that one counts
            os.link(new, path)
    finally:
        os.unlink(new)


def read_token(path: Path) -> str:
    """The token that an agent left for its user's other programs."""
    try:
        token = path.read_text().strip()
    except FileNotFoundError:
        raise UsageError(
            f"no token at {path}",
            hint="the agent writes it on its first start: is one running, with this --state?",
        ) from None
    except PermissionError:
        raise UsageError(
            f"the token at {path} is another user's", hint="run this as the agent's user"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"no token at {path}: {error}", hint="is --state right?") from None
    if not token:
        raise UsageError(f"the token at {path} is empty", hint="delete the file, restart the agent")
    if not (token.isascii() and token.isprintable()):
        raise UsageError(
            f"what is at {path} is no token", hint="delete the file, restart the agent"
        )
    return token
