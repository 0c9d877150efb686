"""The check of certificates that Python's `ssl` makes since 3.13, made by `openssl` itself."""

from __future__ import annotations

import subprocess
from pathlib import Path


def complaints(authority: Path, certificate: Path) -> str:
    """The errors that a strict check of this certificate finds; empty if there are none."""
    words = ["openssl", "verify", "-x509_strict", "-CAfile", str(authority), str(certificate)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""
