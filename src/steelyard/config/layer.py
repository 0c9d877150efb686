"""The content of one source: values with their places, and problems found in reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Given:
    """A value, and where a person wrote it: `steelyard.toml:12`, `flag --min`."""

    value: Any
    place: str


@dataclass(frozen=True, slots=True)
class Layer:
    """The keys one source gives, by dotted name. A later layer wins over an earlier one."""

    given: Mapping[str, Given]
    problems: tuple[str, ...] = ()
    complete: bool = True  # False: the source could not be read, so its keys are unknown
