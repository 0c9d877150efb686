"""Says why a node is alone, while it should have joined others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from steelyard.mesh.transport.base import Trouble
from steelyard.mesh.transport.diagnosis import diagnose
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security

# Seconds alone before the reason is said, before the second time, and between later ones.
FIRST, AGAIN, THEN = 2.0, 10.0, 30.0


class Doubts:
    """A thread that looks now and then whether the node is alone. It says nothing at the first look
    after company, as the node may not be alone for long.

    A trouble is lasting if every endpoint that we join has a lasting one, twice in a row: a node
    may be slow to link.
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
        """Say nothing any more."""
        self._over.set()

    def _run(self) -> None:
        pause, in_company, lasting = FIRST, False, False
        while not self._over.wait(pause):
            before, in_company = in_company, not self._alone()
            if in_company or before:
                pause, lasting = FIRST, False
            else:
                lasting = self._look(lasting)
                pause = AGAIN if pause == FIRST else THEN

    def _look(self, hopeless: bool) -> bool:
        """Say what is wrong; return whether waiting is of no use. `hopeless` is the result of the
        last look.
        """
        told = [diagnose(endpoint, self._security) for endpoint in self._join]
        if self._over.is_set() or not self._alone():
            return False
        lasting = all(one.lasting for one in told)
        for one in told:
            self._say(Trouble(one.text, hopeless and lasting))
        return lasting
