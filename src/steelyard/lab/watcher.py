"""The observer of an experiment's progress."""

from __future__ import annotations

from typing import Protocol


class Watcher(Protocol):
    """Shows the progress of an experiment, or ignores it."""

    def begin(self, steps: int, what: str) -> None: ...
    def tell(self, text: str) -> None: ...  # tells what is done next
    def step(self) -> None: ...
