"""Renewal: loads certificates again when their files have changed, in the control thread.

New clients see the new certificates; open connections keep the certificate that they began with. If
the new files cannot be loaded, the old certificates stay in use.
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

EVERY = 1.0  # seconds between two checks of the files


class Renewal:
    """Watches the files of the certificates that clients see."""

    def __init__(self, front: Front, identity: Identity, pairs: Sequence[Pair]) -> None:
        self._front = front
        self._pairs = pairs
        self._tried: Looks = identity.looks  # the files' looks at the last attempt to load them
        self._last: Looks = identity.looks

    async def run(self) -> None:
        """Check the files regularly, until the task is cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.look)  # the files may be on a slow disk
            except Exception:  # a bug must not end the renewal for good
                log.exception("the certificates could not be looked at")
            await asyncio.sleep(EVERY)

    def look(self) -> None:
        """Load changed files once they are the same in two checks, as a certificate and its key are
        two files, which do not change at the same moment."""
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
