"""Tests of the event loop."""

from __future__ import annotations

import os
import threading
from math import inf

from steelyard.balancer.io.loop import IN, Handler, Loop, Waker


class Owner:
    """An owner that counts wake-ups, and ends the loop at a wake-up or a deadline."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.wakes = 0
        self.expired_at = 0.0

    def woken(self) -> None:
        self.wakes += 1
        self.loop.running = False

    def expired(self) -> None:
        self.expired_at = self.loop.now
        self.loop.running = False


class Pipe(Handler):
    """A pipe in the loop that counts its events."""

    def __init__(self, loop: Loop) -> None:
        self.read, self.write = os.pipe()
        self.deadline = inf
        self.loop = loop
        self.other: Pipe | None = None
        self.events = 0
        loop.add(self.read, self, IN)

    def on_event(self, mask: int) -> None:
        self.events += 1
        if self.other is not None:
            self.other.abort()
            new, _ = os.pipe()
            assert new != self.other.read, "the number was reused within the round"
            os.close(new)
            os.close(_)
        self.loop.running = False

    def expire(self) -> None:
        raise AssertionError

    def abort(self) -> None:
        self.loop.drop(self.read, self)

    def close(self) -> None:
        os.close(self.read)
        os.close(self.write)


def test_waking_from_another_thread() -> None:
    """A wake-up from another thread ends the wait, and is harmless once the loop has ended."""
    loop = Loop(sweep_every=1000)
    owner = Owner(loop)
    waker = Waker(loop, owner)
    thread = threading.Thread(target=loop.run)
    thread.start()
    waker.wake()
    thread.join(10)
    assert owner.wakes == 1
    loop.close()
    waker.wake()


def test_deadlines_are_swept() -> None:
    """A deadline that has passed is reported once, at the next sweep."""
    loop = Loop(sweep_every=0.01)
    owner = Owner(loop)
    waker = Waker(loop, owner)
    waker.deadline = loop.now + 0.02
    due = waker.deadline
    loop.run()
    assert owner.expired_at >= due
    assert waker.deadline == inf
    loop.close()


def test_who_is_dropped_within_a_round_gets_no_event_of_it() -> None:
    """A handler that is dropped within a round gets no event of that round, and its file descriptor
    is not reused before the round is over."""
    loop = Loop(sweep_every=1000)
    one, two = Pipe(loop), Pipe(loop)
    one.other, two.other = two, one
    os.write(one.write, b"x")
    os.write(two.write, b"x")
    loop.run()
    assert one.events + two.events == 1
    loop.close()
