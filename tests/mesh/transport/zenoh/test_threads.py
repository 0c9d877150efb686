"""Zenoh's threads in this process."""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue

from steelyard.mesh.transport.base import Query
from steelyard.mesh.transport.zenoh.link import ZenohLink
from steelyard.mesh.transport.zenoh.threads import SETTING

PATIENCE = 60.0


def test_python_knows_a_thread_from_one_call_to_the_next() -> None:
    """Thread-local data survives from one callback to the next, and the environment is restored."""
    kept = threading.local()
    seen: SimpleQueue[int] = SimpleQueue()

    def count(query: Query) -> None:
        kept.calls = getattr(kept, "calls", 0) + 1
        seen.put(kept.calls)
        query.reply(b"")

    asked, asker = ZenohLink(), None
    try:
        asked.serve(count)
        asked.announce("counter")
        asker = ZenohLink(join=asked.locators)
        there = threading.Event()
        asker.watch(lambda _: there.set(), lambda _: None)
        assert there.wait(PATIENCE)
        answers: SimpleQueue[bytes] = SimpleQueue()
        for _ in range(10):
            asker.ask(asked.identity, b"", answers.put, lambda why: answers.put(why.encode()))
            assert answers.get(timeout=PATIENCE) == b""
        assert max(seen.get(timeout=PATIENCE) for _ in range(10)) > 1  # Zenoh may change threads
        assert SETTING not in os.environ
    finally:
        asked.close()
        if asker is not None:
            asker.close()
