"""A unit as a future."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from steelyard.mesh.answer import Answer
from steelyard.mesh.protocol.lifecycle import State


class UnitFuture(Future[Any]):
    """Cancelling it stops the unit, wherever it is."""

    def __init__(self, drop: Callable[[], None]) -> None:
        super().__init__()
        self._drop = drop

    def cancel(self) -> bool:
        cancelled = super().cancel()
        if cancelled:
            self._drop()
        return cancelled

    def deliver(self, answers: Sequence[Answer]) -> None:
        """Called by the client, once, with one."""
        (answer,) = answers
        if answer.state is State.CANCELLED:
            super().cancel()  # by whoever closed the client
        if not self.set_running_or_notify_cancel():  # which tells those who wait for several
            return
        try:
            self.set_result(answer.value)
        except Exception as error:  # whatever there is instead of a value
            self.set_exception(error)
