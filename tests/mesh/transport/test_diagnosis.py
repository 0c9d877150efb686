"""The diagnosis of endpoints that cannot be joined, with real servers at the other end."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from steelyard.mesh.certs import make_members
from steelyard.mesh.transport import diagnosis
from steelyard.mesh.transport.diagnosis import diagnose
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certs")
    make_members(folder, ["alpha", "beta"], 1, renew=False)
    make_members(folder / "other", ["stranger"], 1, renew=False)
    return folder


def security(folder: Path) -> Security:
    return Security(folder / "ca.pem", folder / "node.pem", folder / "node.key")


@contextmanager
def server(folder: Path | None, trusts: Path | None = None) -> Iterator[Endpoint]:
    """A server that takes one connection: with TLS and client certificates, or with neither."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    if folder is None:
                        while connection.recv(4096):
                            pass
                        return
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(folder / "node.pem", folder / "node.key")
                    context.verify_mode = ssl.CERT_REQUIRED
                    context.load_verify_locations((trusts or folder) / "ca.pem")
                    with context.wrap_socket(connection, server_side=True) as secure:
                        secure.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Endpoint("tls", "127.0.0.1", listener.getsockname()[1])
        with suppress(OSError), socket.create_connection(listener.getsockname(), 1):
            pass  # ends a server that had no connection
        thread.join()


def plain(endpoint: Endpoint) -> Endpoint:
    return Endpoint("tcp", endpoint.host, endpoint.port)


def test_nobody_listens() -> None:
    """If nothing listens, the trouble does not last, as a node may start later."""
    with server(None) as endpoint:
        pass
    said = diagnose(plain(endpoint), None)
    assert "cannot be joined yet" in said.text
    assert not said.lasting


def test_the_other_side_is_of_another_mesh(certs: Path) -> None:
    """A certificate of another authority is named as the reason."""
    with server(certs / "other" / "stranger") as endpoint:
        assert "authority did not sign" in diagnose(endpoint, security(certs / "alpha")).text


def test_the_other_side_refuses_ours(certs: Path) -> None:
    """The server refuses our certificate only after the handshake."""
    with server(certs / "beta", trusts=certs / "other") as endpoint:
        said = diagnose(endpoint, security(certs / "alpha"))
    assert "refuses our certificate" in said.text
    assert said.lasting


def test_all_is_well_but_nobody_links(certs: Path) -> None:
    """A server that takes the handshake but does not link is not a node of our mesh."""
    with server(certs / "beta") as endpoint:
        said = diagnose(endpoint, security(certs / "alpha"))
    assert "is it a node of a mesh of our name, and are we a member?" in said.text


def test_the_other_side_speaks_no_tls(certs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without TLS waits for something that it understands."""
    monkeypatch.setattr(diagnosis, "PATIENCE", 0.3)
    with server(None) as endpoint:
        assert "does not speak TLS" in diagnose(endpoint, security(certs / "alpha")).text


def test_we_speak_no_tls_and_the_other_side_does(certs: Path) -> None:
    """A server with TLS tells us to use certificates."""
    with server(certs / "beta") as endpoint:
        assert "wants TLS with certificates" in diagnose(plain(endpoint), None).text
