"""Who sees how a measurement goes on."""

from __future__ import annotations

from typing import Protocol


class Watcher(Protocol):
    """Shows progress, or does not."""

    def say(self, line: str) -> None: ...  # worth a line of a log
    def begin(self, steps: int, what: str = ...) -> None: ...
    def tell(self, text: str) -> None: ...  # what is done next
    def step(self) -> None: ...
