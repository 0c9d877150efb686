"""What can be burnt and held: CPU time and memory."""

from __future__ import annotations

import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

from steelyard.demo.query import BadQueryError

MEGABYTE = 2**20
MOST_MEGABYTES = 512  # held at once by one worker


class Burner:
    """Burns CPU time on one thread: requests queue for it as for a single core."""

    def __init__(self) -> None:
        self._core = ThreadPoolExecutor(max_workers=1, thread_name_prefix="burner")

    async def burn(self, seconds: float) -> None:
        await asyncio.get_running_loop().run_in_executor(self._core, _burn, seconds)

    def close(self) -> None:
        """Nothing that still waits is begun, or the process would outlive its end by that long."""
        self._core.shutdown(wait=False, cancel_futures=True)


def _burn(seconds: float) -> None:
    # Hashing a large block lets other threads run meanwhile: the health check must answer.
    block = bytes(64 * 1024)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        hashlib.sha256(block)


class Ballast:
    """Memory that is held for a while."""

    def __init__(self) -> None:
        self._held: dict[object, bytes] = {}
        self._megabytes = 0

    async def hold(self, megabytes: int, seconds: float) -> None:
        """Returns once the memory is held; it is let go later."""
        if self._megabytes + megabytes > MOST_MEGABYTES:
            raise BadQueryError(
                f"mb: {self._megabytes} of at most {MOST_MEGABYTES} are held already"
            )
        self._megabytes += megabytes
        token = object()
        # Pages count as used only once they were written to, which a fill does.
        self._held[token] = await asyncio.to_thread(b"\x01".__mul__, megabytes * MEGABYTE)
        asyncio.get_running_loop().call_later(seconds, self._release, token)

    def _release(self, token: object) -> None:
        self._megabytes -= len(self._held.pop(token)) // MEGABYTE
