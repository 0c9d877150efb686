"""The number of examples: few and always the same, or as many new ones as FUZZ says."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


def bounded(examples: int) -> settings:
    """The settings of one fuzz test, with `examples` examples if FUZZ is not set."""
    wanted = int(os.environ.get("FUZZ", "0"))
    if not wanted:
        return settings(
            max_examples=examples, derandomize=True, database=None, suppress_health_check=_QUIET
        )
    folder = Path(tempfile.gettempdir()) / "steelyard-fuzz"  # failures are tried first next time
    return settings(
        max_examples=wanted,
        database=DirectoryBasedExampleDatabase(folder),
        suppress_health_check=_QUIET,
    )
