"""When a node that is alone learns that waiting is of no use."""

from __future__ import annotations

import socket
import threading
from queue import Queue

import pytest

from steelyard.mesh.transport import diagnosis
from steelyard.mesh.transport.base import Trouble
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.zenoh import doubts
from tests.mesh.conftest import PATIENCE


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "PATIENCE", 0.1)
    for name in ("FIRST", "AGAIN", "THEN"):
        monkeypatch.setattr(doubts, name, 0.05)


def test_who_answers_and_does_not_link_may_be_slow() -> None:
    """An endpoint that answers but does not link is a lasting trouble at the second look."""
    told: Queue[Trouble] = Queue()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        endpoint = Endpoint("tcp", *mute.getsockname())
        alone = doubts.Doubts([endpoint], None, lambda: True, told.put)
        said = [told.get(timeout=PATIENCE) for _ in range(3)]
        alone.close()
    assert [one.lasting for one in said] == [False, True, True]


def test_who_is_left_alone_again_is_told_again() -> None:
    """After company, a node that is alone again begins to look anew."""
    told: Queue[Trouble] = Queue()
    company = threading.Event()
    looked: Queue[None] = Queue()

    def is_alone() -> bool:
        looked.put(None)
        return not company.is_set()

    with socket.create_server(("127.0.0.1", 0)) as mute:
        endpoint = Endpoint("tcp", *mute.getsockname())
        alone = doubts.Doubts([endpoint], None, is_alone, told.put)
        while not told.get(timeout=PATIENCE).lasting:
            pass
        company.set()
        for _ in range(looked.qsize() + 3):  # one look may have been under way
            looked.get(timeout=PATIENCE)
        while not told.empty():
            told.get()
        for _ in range(3):
            looked.get(timeout=PATIENCE)
        assert told.empty()
        company.clear()
        assert [told.get(timeout=PATIENCE).lasting for _ in range(2)] == [False, True]
        alone.close()


def test_who_was_linked_while_it_looked_says_nothing() -> None:
    """A node that was linked during a look says nothing."""
    told: Queue[Trouble] = Queue()
    looks, looked = [True, False], threading.Event()

    def is_alone() -> bool:
        if looks:
            return looks.pop(0)
        looked.set()
        return False

    with socket.create_server(("127.0.0.1", 0)) as mute:
        endpoint = Endpoint("tcp", *mute.getsockname())
        alone = doubts.Doubts([endpoint], None, is_alone, told.put)
        assert looked.wait(PATIENCE)
        alone.close()
    assert told.empty()
