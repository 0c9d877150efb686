"""Tests of the limit on connections per client address."""

from __future__ import annotations

import pytest

from tests.balancer.stage import GET, always, stage, until

PROXY = b"PROXY TCP4 192.0.2.%d 198.51.100.2 1 2\r\n"


def test_one_too_many_is_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    """A connection over the limit is closed, the others go on, and closed ones make room again."""
    with stage(always(), client_connections=2) as s:
        with s.call() as one, s.call() as two:
            for client in (one, two):
                client.send(GET)
                assert client.answer().status == 200
            for _ in range(3):
                assert s.cuts_off()
            for client in (one, two):
                client.send(GET)
                assert client.answer().status == 200
        until(lambda: not s.plane.front.clients)
        for _ in range(5):
            assert s.get().status == 200
            until(lambda: not s.plane.front.clients)
    assert [record.message for record in caplog.records].count(
        "127.0.0.1 has 2 connections and gets no more"
    ) == 1


def test_trusted_proxies_are_not_counted() -> None:
    """Connections of a trusted proxy are not limited, since many clients share its address."""
    limits = {"client_connections": 1, "trusted_proxies": ["127.0.0.1"]}
    with stage(always(), **limits) as s, s.call() as one, s.call() as two:
        for client in (one, two):
            client.send(GET)
            assert client.answer().status == 200


def test_whom_a_proxy_speaks_for_is_counted() -> None:
    """Connections with a PROXY header are counted by the client address in that header."""
    on = {"proxy_protocol": "on", "trusted_proxies": ["127.0.0.1"]}
    with stage(always(), client_connections=1, **on) as s:
        with s.call() as one, s.call() as two, s.call() as three:
            for client, number in ((one, 1), (two, 2)):
                client.send(PROXY % number + GET)
                assert client.answer().status == 200
            three.send(PROXY % 1 + GET)
            assert three.ended()
        until(lambda: not s.plane.front.clients)
        assert s.get(PROXY % 1 + GET).status == 200
        assert len(s.worker.seen) == 3
