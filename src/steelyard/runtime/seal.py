"""The seal on a worker's mark proves that an agent of this state folder made the mark.

Any user of the machine can start a process with our variables in its environment. The seal is an
HMAC over the whole mark, keyed with a secret that only the owner of the state folder can read. A
worker can read its own seal, but that seal fits no other name and no other port.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from dataclasses import replace
from pathlib import Path

from steelyard.errors import UsageError
from steelyard.private_file import make_private
from steelyard.runtime.marks import Mark
from steelyard.state_folder import open_state_folder

_FILE = "mark.key"


class Seal:
    """Signs marks with one secret, and recognises its own signatures."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, mark: Mark) -> Mark:
        """The same mark with its seal."""
        return replace(mark, seal=self._digest(mark))

    def fits(self, mark: Mark) -> bool:
        """Whether the mark carries the seal that `sign` would give it."""
        return hmac.compare_digest(mark.seal.encode(), self._digest(mark).encode())

    def _digest(self, mark: Mark) -> str:
        text = json.dumps(replace(mark, seal="").variables(), sort_keys=True)
        return hmac.new(
            self._key, text.encode(errors="surrogateescape"), hashlib.sha256
        ).hexdigest()


def open_seal(folder: Path) -> Seal:
    """Open the seal of a state folder; the first call creates its secret.

    Every call makes the folder private.
    """
    open_state_folder(folder)
    try:
        path = folder / _FILE
        make_private(path, secrets.token_hex(32))
        return Seal(_read(path))
    except OSError as error:
        raise UsageError(
            f"no secret for the workers' marks can be kept in {folder}: {error.strerror}",
            hint="choose another --state",
        ) from error


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise UsageError(
                f"the secret at {path} can be read or written by other users",
                hint="delete the file: the next start makes a new one, and a worker whose mark has "
                "the old seal is known by the register only",
            )
        key = file.read().strip()
    if not key:
        raise UsageError(f"the secret at {path} is empty", hint="delete the file")
    return key
