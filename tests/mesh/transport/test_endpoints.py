from __future__ import annotations

import socket

import pytest

from steelyard.errors import UsageError
from steelyard.mesh.transport.endpoints import (
    Endpoint,
    global_addresses,
    locators,
    obstacle,
    parse,
    settle,
)


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("tcp/10.0.0.1:7447", Endpoint("tcp", "10.0.0.1", 7447)),
        ("tls/node.example:1", Endpoint("tls", "node.example", 1)),
        ("127.0.0.1:0", Endpoint("tls", "127.0.0.1", 0)),
        ("tcp/[::1]:7447", Endpoint("tcp", "::1", 7447)),
    ],
)
def test_endpoints_are_read(text: str, endpoint: Endpoint) -> None:
    """An endpoint has a protocol or gets the default one, and its text can be parsed again."""
    assert parse(text, "tls") == endpoint
    assert parse(str(endpoint), "tcp") == endpoint


@pytest.mark.parametrize("text", ["", "here", "udp/1.2.3.4:5", "tcp/1.2.3.4", "tcp/h:x", "h:70000"])
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    """A text that is not an endpoint is refused with a hint how to write one."""
    with pytest.raises(UsageError, match="is not an endpoint"):
        parse(text, "tcp")


@pytest.mark.parametrize("host", ["a..b", "x" * 64, "\udcff"])
def test_what_is_no_host_is_refused(host: str) -> None:
    """A name that DNS does not allow is refused before it is looked up."""
    with pytest.raises(UsageError, match="not the name of a host"):
        parse(f"tcp/{host}:1", "tcp")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *[("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True)],
        *[("10.0.0.1", False), ("0.0.0.0", False), ("example.org", False), ("::", False)],
    ],
)
def test_what_is_on_loopback(host: str, local: bool) -> None:
    """Only loopback is safe without certificates."""
    assert Endpoint("tcp", host, 1).local is local


def test_any_port_becomes_one_that_is_free() -> None:
    """Port 0 becomes a free port, so that other nodes can be told."""
    found = settle(Endpoint("tcp", "127.0.0.1", 0))
    with socket.create_server((found.host, found.port)):
        assert found.port
    assert settle(found) == found


def test_a_wildcard_is_told_as_the_addresses_it_stands_for() -> None:
    """A wildcard stands for all addresses, including loopback; other addresses stay as they are."""
    found = locators(Endpoint("tcp", "0.0.0.0", 7))
    assert Endpoint("tcp", "127.0.0.1", 7) in found
    assert not any(one.wildcard for one in found)
    assert locators(Endpoint("tcp", "10.0.0.1", 7)) == [Endpoint("tcp", "10.0.0.1", 7)]


def test_addresses_of_ipv6_that_others_may_know() -> None:
    """Neither loopback nor link-local addresses are known to other machines."""
    table = (
        "fd770000000000000000000000000002 03 40 00 80 eth0\n"
        "fe800000000000000000000000000002 03 40 20 80 eth0\n"
        "00000000000000000000000000000001 01 80 10 80 lo\n"
    )
    assert global_addresses(table) == ["fd77::2"]
    assert Endpoint("tcp", "127.0.0.1", 7) in locators(Endpoint("tcp", "::", 7))


def test_a_place_that_was_just_left_can_be_taken_again() -> None:
    """A port whose last connection was closed a moment ago can be listened on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = Endpoint("tcp", *server.getsockname())
        with socket.create_connection((endpoint.host, endpoint.port)) as other:
            server.accept()[0].close()
            assert other.recv(1) == b""
    assert obstacle(endpoint) is None


def test_what_is_in_the_way_of_listening() -> None:
    """The reason why a port cannot be used is found before Zenoh is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert obstacle(Endpoint("tcp", "127.0.0.1", port)) == "Address already in use"
    assert obstacle(Endpoint("tcp", "127.0.0.1", port)) is None
    assert obstacle(Endpoint("tcp", "*", 0)) is None
    assert obstacle(Endpoint("tcp", "::1", 0)) is None
    assert "assign" in str(obstacle(Endpoint("tcp", "192.0.2.99", 0)))
    assert obstacle(Endpoint("tcp", "no.such.host.invalid", 1)) is not None
