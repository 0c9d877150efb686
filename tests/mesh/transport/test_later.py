from __future__ import annotations

import threading

import pytest

from steelyard.mesh.transport.later import Later

PATIENCE = 60.0


def test_a_callback_that_fails_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """After a callback that fails, the next one runs, and the log says what happened."""
    later, called = Later("later"), threading.Event()

    def fail() -> None:
        raise RuntimeError("on purpose")

    later(fail)
    later(called.set)
    assert called.wait(PATIENCE)
    later.close()
    assert "on purpose" in caplog.text
