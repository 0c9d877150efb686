"""Says why a node is alone, while it is and should not be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from steelyard.mesh.transport.diagnosis import diagnose
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security

FIRST, THEN = 2.0, 30.0  # seconds alone before it is said, and said again


class Doubts:
    """A thread that ends when the first other node is seen."""

    def __init__(
        self,
        join: Sequence[Endpoint],
        security: Security | None,
        alone: Callable[[], bool],
        say: Callable[[str], None],
    ) -> None:
        self._join, self._security, self._alone, self._say = join, security, alone, say
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="steelyard-doubts", daemon=True)
        if join:
            self._thread.start()

    def close(self) -> None:
        """Nothing is said any more."""
        self._over.set()

    def _run(self) -> None:
        pause = FIRST
        while not self._over.wait(pause) and self._alone():
            for endpoint in self._join:
                told = diagnose(endpoint, self._security)
                if self._over.is_set() or not self._alone():
                    return
                self._say(told)
            pause = THEN
