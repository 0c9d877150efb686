"""What to do where the machine lacks a thing that a test needs."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lacking(message: str) -> NoReturn:
    """Skip the test visibly; with CI=true fail it, so that no suite is green without having run."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
