"""Zenoh's threads, as this process has them."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from queue import SimpleQueue

from steelyard.mesh.transport.base import Query
from steelyard.mesh.transport.zenoh.link import ZenohLink
from steelyard.mesh.transport.zenoh.threads import SETTING

PATIENCE = 60.0


def names() -> list[str]:
    """Of all threads of this process, the operating system's names."""
    return [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]


def test_one_thread_reads_and_python_knows_it_from_one_call_to_the_next() -> None:
    """What is kept by thread is still there; nothing is left in the environment."""
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
        for _ in range(3):
            asker.ask(asked.identity, b"", answers.put, lambda why: answers.put(why.encode()))
            assert answers.get(timeout=PATIENCE) == b""
        assert [seen.get(timeout=PATIENCE) for _ in range(3)] == [1, 2, 3]
        assert sum(name.startswith("rx-") for name in names()) == 1
        assert SETTING not in os.environ
    finally:
        asked.close()
        if asker is not None:
            asker.close()
