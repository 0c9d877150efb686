"""The owner of the socket that accepted a connection, from the kernel."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from steelyard.peer_owner import StrangerError, peer_owner, require_agent
from tests.stranger import NOBODY, stranger


@pytest.mark.parametrize(
    ("bound", "asked"), [("127.0.0.1", "127.0.0.1"), ("::", "::1"), ("::", "127.0.0.1")]
)
def test_our_own_listener_is_ours(bound: str, asked: str) -> None:
    """The owner is known before and after the accept, for IPv4 and IPv6."""
    family = socket.AF_INET6 if ":" in bound else socket.AF_INET
    with (
        socket.create_server(
            (bound, 0), family=family, dualstack_ipv6=family == socket.AF_INET6
        ) as server,
        socket.create_connection((asked, server.getsockname()[1])) as sock,
    ):
        assert peer_owner(sock) == os.geteuid()
        accepted, _ = server.accept()
        with accepted:
            assert peer_owner(sock) == os.geteuid()


@pytest.mark.needs("root")
def test_another_users_listener_is_told(tmp_path: Path) -> None:
    """The stranger's user id is found, and the agent's token is not sent."""
    token = tmp_path / "token"
    token.write_text("s3cret")
    with (
        stranger(tmp_path / "log") as other,
        socket.create_connection(("127.0.0.1", other.port)) as sock,
    ):
        assert peer_owner(sock) == NOBODY
        with pytest.raises(StrangerError, match=f"uid {NOBODY}"):
            require_agent(sock, token)


@pytest.mark.needs("root")
def test_an_agent_of_another_user_is_known_by_its_token(tmp_path: Path) -> None:
    """Root may ask an agent of any user, as the token belongs to the agent's user."""
    token = tmp_path / "token"
    token.write_text("s3cret")
    os.chown(token, NOBODY, NOBODY)
    with (
        stranger(tmp_path / "log") as other,
        socket.create_connection(("127.0.0.1", other.port)) as sock,
    ):
        require_agent(sock, token)
