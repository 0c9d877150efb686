"""Skips or fails a test if the machine lacks a thing that the test needs."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def lacking(message: str) -> NoReturn:
    """Skip the test; with CI=true fail it, so that no suite is green without having run."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
