"""Tests of resolving the host names of workers."""

from __future__ import annotations

import socket

import pytest

from steelyard.balancer.control.resolver import Resolver


def test_literal_addresses_need_no_look_up() -> None:
    """An IP address is known without a look-up, and is never stale."""
    resolver = Resolver()
    names = [("127.0.0.1", 80), ("::1", 81)]
    assert resolver.known(names) == {
        ("127.0.0.1", 80): (socket.AF_INET, ("127.0.0.1", 80)),
        ("::1", 81): (socket.AF_INET6, ("::1", 81)),
    }
    assert resolver.stale(names) == []


async def test_a_name_is_looked_up_and_remembered() -> None:
    """A host name is unknown until it is looked up, and then fresh for a while."""
    resolver = Resolver()
    names = [("localhost", 80)]
    assert resolver.known(names) == {}
    assert resolver.stale(names) == names
    assert await resolver.refresh(names)
    assert resolver.known(names)["localhost", 80][1][0] in {"127.0.0.1", "::1"}
    assert resolver.stale(names) == []
    assert not await resolver.refresh(names)


async def test_an_unknown_name_is_asked_for_again(caplog: pytest.LogCaptureFixture) -> None:
    """A failed look-up is logged once, and the name stays stale."""
    resolver = Resolver()
    names = [("no-such-host.invalid", 80)]
    for _ in range(2):
        assert not await resolver.refresh(names)
        assert resolver.stale(names) == names
    assert len(caplog.records) == 1
    assert "no-such-host.invalid:80" in caplog.text
