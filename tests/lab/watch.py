"""A watcher that counts."""

from __future__ import annotations


class Counting:
    def __init__(self) -> None:
        self.planned = self.done = 0

    def begin(self, steps: int, what: str) -> None:
        self.planned += steps

    def tell(self, text: str) -> None: ...

    def step(self) -> None:
        self.done += 1
