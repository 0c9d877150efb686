"""Who sees how an experiment goes on."""

from __future__ import annotations

from typing import Protocol


class Watcher(Protocol):
    """Shows progress, or does not."""

    def begin(self, steps: int, what: str) -> None: ...
    def tell(self, text: str) -> None: ...  # what is done next
    def step(self) -> None: ...
