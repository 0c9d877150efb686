"""The children of a gateway together."""

from __future__ import annotations

import signal

import pytest

from steelyard.config.settings import Gateway, Settings
from steelyard.config.values import Address
from steelyard.core.queue import Queue
from steelyard.supervisor.child import Child
from steelyard.supervisor.supervise import Supervisor

NOBODY = Queue(application="app", epoch="e", version=0)


@pytest.fixture
async def supervisor(monkeypatch):
    """One of balancers, none of which is really started."""
    monkeypatch.setattr(Child, "start", lambda self: None)
    settings = Settings(gateway=Gateway(listen=Address("127.0.0.1", 0)))
    made = Supervisor(settings, lambda line: None, NOBODY)
    yield made
    await made.close()


@pytest.mark.parametrize("ignored", [True, False])
async def test_a_hangup_stops_it_unless_it_was_started_to_outlive_one(supervisor, ignored):
    """`nohup` has the signal ignored from the start, and that must stay so."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        supervisor.start()
        assert (signal.getsignal(signal.SIGHUP) is signal.SIG_IGN) is ignored
    finally:
        signal.signal(signal.SIGHUP, before)
