"""When somebody who is alone is told that waiting is of no use."""

from __future__ import annotations

import socket
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
    """But not twice."""
    told: Queue[Trouble] = Queue()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        endpoint = Endpoint("tcp", *mute.getsockname())
        alone = doubts.Doubts([endpoint], None, lambda: True, told.put)
        said = [told.get(timeout=PATIENCE) for _ in range(3)]
        alone.close()
    assert [one.lasting for one in said] == [False, True, True]


def test_who_is_not_alone_any_more_doubts_nothing() -> None:
    """The first look is the last."""
    told: Queue[Trouble] = Queue()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        endpoint = Endpoint("tcp", *mute.getsockname())
        alone = doubts.Doubts([endpoint], None, lambda: False, told.put)
        alone._thread.join(PATIENCE)
    assert not alone._thread.is_alive()
    assert told.empty()


def test_who_was_linked_while_it_looked_says_nothing() -> None:
    """It would be true no more."""
    told: Queue[Trouble] = Queue()
    looks = iter((True, False))
    with socket.create_server(("127.0.0.1", 0)) as mute:
        endpoint = Endpoint("tcp", *mute.getsockname())
        alone = doubts.Doubts([endpoint], None, lambda: next(looks), told.put)
        alone._thread.join(PATIENCE)
    assert not alone._thread.is_alive()
    assert told.empty()
