"""A unit as a future."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from steelyard.mesh.answer import Answer
from steelyard.mesh.protocol.lifecycle import State


class UnitFuture(Future[Any]):
    """The future of a unit. Cancelling it stops the unit, wherever it is."""

    def __init__(self, drop: Callable[[], None]) -> None:
        super().__init__()
        self._drop = drop

    def cancel(self) -> bool:
        cancelled = super().cancel()
        if cancelled:
            self._drop()
        return cancelled

    def deliver(self, answers: Sequence[Answer]) -> None:
        """Take the answer; the client calls this once, with one answer."""
        (answer,) = answers
        if answer.state is State.CANCELLED:
            super().cancel()  # somebody closed the client
        if not self.set_running_or_notify_cancel():  # this also tells `concurrent.futures.wait`
            return
        try:
            self.set_result(answer.value)
        except Exception as error:  # the error of a unit that has no value
            self.set_exception(error)
