"""CPU time and memory, used on demand."""

from __future__ import annotations

import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

from steelyard.demo.query import BadQueryError

MEGABYTE = 2**20
MOST_MEGABYTES = 512  # that one worker may hold at once


class Burner:
    """Burns CPU time on one thread: requests queue for it as for a single core."""

    def __init__(self) -> None:
        self._core = ThreadPoolExecutor(max_workers=1, thread_name_prefix="burner")

    async def burn(self, seconds: float) -> None:
        await asyncio.get_running_loop().run_in_executor(self._core, _burn, seconds)

    def close(self) -> None:
        """Cancel the calls that still wait, or they would keep the process from ending."""
        self._core.shutdown(wait=False, cancel_futures=True)


def _burn(seconds: float) -> None:
    # `hashlib` releases the interpreter lock for a large block, so that health checks are answered.
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
        """Hold memory for so many seconds; return as soon as it is allocated."""
        if self._megabytes + megabytes > MOST_MEGABYTES:
            raise BadQueryError(
                f"mb: {self._megabytes} of at most {MOST_MEGABYTES} are held already"
            )
        self._megabytes += megabytes
        token = object()
        # A page counts as used only after it was written to, so the memory is filled.
        self._held[token] = await asyncio.to_thread(b"\x01".__mul__, megabytes * MEGABYTE)
        asyncio.get_running_loop().call_later(seconds, self._release, token)

    def _release(self, token: object) -> None:
        self._megabytes -= len(self._held.pop(token)) // MEGABYTE
