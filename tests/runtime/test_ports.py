"""Picking free ports."""

from __future__ import annotations

import random
import socket

import pytest

from steelyard.errors import StartError
from steelyard.runtime.ports import free_port, is_free
from tests import ports
from tests.ports import WORKERS


def test_walk_begins_at_random_and_wraps_around() -> None:
    """Over many picks every free port of the range comes up, and none that is taken."""
    first, last = WORKERS[0], WORKERS[0] + 9
    taken = {first + 2, first + 5}
    picks = {free_port((first, last), taken, random.Random(seed)) for seed in range(200)}
    assert picks == {port for port in range(first, last + 1) if port not in taken and is_free(port)}


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_port_that_is_listened_on_is_not_free(host: str) -> None:
    """A listener on loopback or on all addresses makes a port busy."""
    port = ports.free_port()
    with socket.create_server((host, port)):
        assert not is_free(port)
        with pytest.raises(StartError, match="no free port"):
            free_port((port, port), (), random.Random(1))
    assert is_free(port)
