"""The base class of desk and crew: events in, commands out, no clock and no network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from math import inf
from typing import Generic, TypeVar

Event = TypeVar("Event")
Command = TypeVar("Command")


class Machine(ABC, Generic[Event, Command]):
    """Decides what to do, and leaves the doing to its caller."""

    def __init__(self) -> None:
        self.wakeup = inf  # when the caller should send a Tick
        self._out: list[Command] = []
        self._now = 0.0

    def handle(self, event: Event, now: float) -> list[Command]:
        """Take in one event; return the commands that follow from it, in order."""
        return self.handle_all([event], now)

    def handle_all(self, happened: Iterable[Event], now: float) -> list[Command]:
        """Take in events that came together. This is cheaper than one by one, and the results of
        many units then go into one pull.
        """
        self._now, self._out = now, []
        for event in happened:
            self._take(event)
        self._settle()
        return self._out

    @abstractmethod
    def _take(self, event: Event) -> None:
        """Take in one event."""

    @abstractmethod
    def _settle(self) -> None:
        """Add the commands that follow from the new state."""
