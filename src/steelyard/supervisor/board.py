"""The supervisor's side of the board: receives the accounts of its balancers over a Unix socket."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from itertools import count
from time import monotonic

from pydantic import ValidationError

from steelyard.board import board_name, peer_of
from steelyard.core.account import Account
from steelyard.core.accounts import Accounts

LONGEST = 16 * 2**20  # bytes; an account of this length has some ten thousand workers


class Board:
    """Listens for balancers; each connection is one life of one balancer process."""

    def __init__(self) -> None:
        self.accounts = Accounts()
        self._numbers = count()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.token = secrets.token_hex(16)  # names the socket; only the balancers are told
        self._socket.bind(board_name(self.token))
        self._socket.listen()

    async def serve(self) -> None:
        """Receive accounts until cancelled."""
        server = await asyncio.start_unix_server(self._take, sock=self._socket, limit=LONGEST)
        await server.serve_forever()

    def close(self) -> None:
        self._socket.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(self._numbers)
        try:
            if peer_of(writer.get_extra_info("socket")).uid != os.getuid():
                return
            while line := await reader.readline():
                self.accounts.put(number, Account.model_validate_json(line), monotonic())
        except (OSError, ValueError, ValidationError):
            pass  # the balancer was killed within a line, or the client is not a balancer
        finally:
            self.accounts.gone(number)
            writer.close()
