"""How values are written in messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_LONGEST = 60


def quoted(value: Any) -> str:
    """A value as a person would write it, truncated if it is long."""
    if isinstance(value, dict):
        return "a table"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def listed(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in order, without the empty one."""
    return tuple(dict.fromkeys(name for name in names if name))
