"""Says why a node is alone, while it is and should not be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import chain, repeat

from steelyard.mesh.transport.base import Trouble
from steelyard.mesh.transport.diagnosis import diagnose
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security

FIRST, AGAIN, THEN = 2.0, 10.0, 30.0  # seconds alone before it is said, and said again


class Doubts:
    """A thread that ends when the first other node is seen.

    A trouble lasts when all whom we join have one that does, twice: a node may be slow to link.
    """

    def __init__(
        self,
        join: Sequence[Endpoint],
        security: Security | None,
        alone: Callable[[], bool],
        say: Callable[[Trouble], None],
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
        lasting = False
        for pause in chain((FIRST, AGAIN), repeat(THEN)):
            if self._over.wait(pause) or not self._alone():
                return
            told = [diagnose(endpoint, self._security) for endpoint in self._join]
            if self._over.is_set() or not self._alone():
                return
            before, lasting = lasting, all(one.lasting for one in told)
            for one in told:
                self._say(Trouble(one.text, before and lasting))
