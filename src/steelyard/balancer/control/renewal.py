"""Renewal: certificates whose files changed are loaded again. In the control thread.

New clients see the new ones; connections that are open go on with what they began with. Files
that cannot be loaded change nothing: the ones before are shown on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from steelyard.balancer.downstream.front import Front
from steelyard.balancer.downstream.identity import (
    CertificateError,
    Identity,
    Looks,
    Pair,
    concerns,
    load_identity,
    look,
)

log = logging.getLogger(__name__)

EVERY = 1.0  # seconds between two looks


class Renewal:
    """Looks at the files of the certificates that clients see."""

    def __init__(self, front: Front, identity: Identity, pairs: Sequence[Pair]) -> None:
        self._front = front
        self._pairs = pairs
        self._tried: Looks = identity.looks  # how the files looked when they were last loaded
        self._last: Looks = identity.looks

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.look)  # the files may be on a slow disk
            except Exception:  # a bug here must not end the care for all that comes
                log.exception("the certificates could not be looked at")
            await asyncio.sleep(EVERY)

    def look(self) -> None:
        """Load what changed, but not while it changes: certificate and key are two files."""
        looks = look(self._pairs)
        settled, self._last = looks == self._last, looks
        if settled and looks != self._tried:
            self._load()

    def _load(self) -> None:
        self._tried = self._last
        try:
            identity = load_identity(self._pairs)
        except CertificateError as error:
            log.error("new certificates are not used, the ones before are shown on: %s", error)
            return
        self._front.identity = identity
        log.info("new certificates are shown from now on")
        for concern in concerns(identity):
            log.warning("%s", concern)
