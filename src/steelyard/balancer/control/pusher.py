"""Pusher: tells the supervisor how this process stands, twice a second, in the control thread."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable

from steelyard.board import board_name, peer_of
from steelyard.core.account import Account

log = logging.getLogger(__name__)

EVERY = 0.5  # seconds: what a scrape may lack, and what a killed process takes with it


class Pusher:
    """A line of JSON each time. A supervisor that is not there is tried again."""

    def __init__(self, board: str, draw_up: Callable[[], Account]) -> None:
        self._name = board_name(board)
        self._draw_up = draw_up
        self._parent = os.getppid()
        self._writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self.push()
            await asyncio.sleep(EVERY)

    async def push(self) -> None:
        """Now."""
        try:
            writer = self._writer = self._writer or await self._connect()
            writer.write(self._draw_up().model_dump_json().encode() + b"\n")
            await writer.drain()
        except OSError as error:
            log.debug("the supervisor takes no account: %s", error)
            self._drop()
        except Exception:  # a bug here must not end the metrics for good
            log.exception("no account could be drawn up")

    async def finish(self) -> None:
        """The last word, once nothing is open any more."""
        await self.push()
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()

    async def _connect(self) -> asyncio.StreamWriter:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_connect(sock, self._name)
            if peer_of(sock) != (self._parent, os.getuid()):  # an orphan's is gone
                raise OSError("a stranger has its name")
            _, writer = await asyncio.open_unix_connection(sock=sock)
        except BaseException:
            sock.close()
            raise
        return writer

    def _drop(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
