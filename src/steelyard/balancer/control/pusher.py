"""Pusher: sends this process's account to the supervisor twice a second, in the control thread."""

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

EVERY = 0.5  # seconds; a scrape may miss the counts of this time, and a killed process loses them


class Pusher:
    """Sends each account as a line of JSON. If the supervisor is unreachable, it tries again."""

    def __init__(self, board: str, draw_up: Callable[[], Account]) -> None:
        self._name = board_name(board)
        self._draw_up = draw_up
        self._parent = os.getppid()
        self._writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Push regularly, until the task is cancelled."""
        while True:
            await self.push()
            await asyncio.sleep(EVERY)

    async def push(self) -> None:
        """Send the present account, and connect first if there is no connection."""
        try:
            writer = self._writer = self._writer or await self._connect()
            writer.write(self._draw_up().model_dump_json().encode() + b"\n")
            await writer.drain()
        except OSError as error:
            log.debug("the supervisor takes no account: %s", error)
            self._drop()
        except Exception:  # a bug must not end the metrics for good
            log.exception("no account could be drawn up")

    async def finish(self) -> None:
        """Send the last account, after the last exchange, and close the connection."""
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
            if peer_of(sock) != (self._parent, os.getuid()):  # not our parent: an orphan has none
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
