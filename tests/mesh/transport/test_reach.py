from __future__ import annotations

import socket

from steelyard.mesh.transport.reach import reachable

PATIENCE = 60.0


def test_who_accepts_connections_is_found() -> None:
    """And not who refuses them: there is nobody to be introduced to."""
    with socket.create_server(("127.0.0.1", 0)) as here, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        places = [f"tcp/127.0.0.1:{one.getsockname()[1]}" for one in (here, nobody)]
        assert reachable(places, PATIENCE) == {places[0]}
