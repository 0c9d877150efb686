from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from steelyard.mesh.transport import reach
from steelyard.mesh.transport.reach import Reach

PATIENCE = 60.0


def test_who_accepts_connections_is_found() -> None:
    """Only addresses that accept connections are found."""
    with socket.create_server(("127.0.0.1", 0)) as here, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        places = [f"tcp/127.0.0.1:{one.getsockname()[1]}" for one in (here, nobody)]
        assert Reach().reachable(places, PATIENCE) == {places[0]}


def test_a_name_that_nobody_answers_for_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that takes long is looked up once at a time, and found when the answer has come."""
    answered, asked = threading.Event(), []

    def slow(host: str, *rest: Any, flags: int = 0, **options: Any) -> Any:
        if host == "slow" and flags:
            raise OSError
        if host == "slow":
            asked.append(host)
            assert answered.wait(PATIENCE)
            host = "127.0.0.1"
        return look_up(host, *rest, flags=flags, **options)

    look_up = socket.getaddrinfo
    monkeypatch.setattr(reach.socket, "getaddrinfo", slow)
    with socket.create_server(("127.0.0.1", 0)) as here:
        port = here.getsockname()[1]
        places = [f"tcp/127.0.0.1:{port}", f"tcp/slow:{port}"]
        one = Reach()
        for _ in range(2):
            assert one.reachable(places, 0.05) == {places[0]}
        answered.set()
        assert one.reachable(places, PATIENCE) == set(places)
        assert len(asked) <= 2
