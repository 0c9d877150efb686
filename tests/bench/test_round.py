"""One round, where the client itself goes wrong."""

from __future__ import annotations

import pytest

from steelyard.bench.balancer import round as rounds


@pytest.mark.parametrize(("after", "found"), [(11, 0), (75, 0), (80, 5), (None, None)])
def test_reconnects_are_connections_beyond_the_clients(after, found):
    """One for each of the 64 clients, and our own question, are no reconnects."""
    assert rounds._reconnects(10, after, connections=64) == found


LOAD = rounds.Load(seconds=1, connections=8, crowd=0)


@pytest.mark.parametrize("words", [["echo", "unable to connect"], ["sleep", "30"]])
def test_a_client_that_fails_is_a_failed_round(words, monkeypatch):
    """The contender is marked, and the run goes on."""
    monkeypatch.setattr(rounds, "GRACE", -0.9)
    counts = rounds._client(words, LOAD)
    assert (counts.requests, counts.errors) == (0, 8)
