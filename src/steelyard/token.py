"""The token that guards the API: made on the first start, readable by its owner only."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from steelyard.errors import UsageError


def ensure_token(path: Path) -> str:
    """The token in the file; a new one when there is no file."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(path)
    with os.fdopen(descriptor, "w") as file:
        token = secrets.token_urlsafe(32)
        file.write(token + "\n")
    return token


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
    if not token:
        raise UsageError(f"the token at {path} is empty", hint="delete the file, restart the agent")
    return token
