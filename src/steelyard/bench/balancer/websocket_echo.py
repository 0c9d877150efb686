"""`python -m … PORT`: answers every message with one, and every other request with 200."""

from __future__ import annotations

import asyncio
import sys

from steelyard.bench.balancer.frames import (
    END_OF_HEAD,
    FROM_CLIENT,
    FROM_SERVER,
    accepted,
)
from steelyard.bench.ports import HOST

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Echo(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a TCP server
        self._transport = transport
        self._open = False
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._open:
            self._messages()
        elif END_OF_HEAD in self._data:
            self._head()

    def _head(self) -> None:
        head, _, self._data = self._data.partition(END_OF_HEAD)
        self._open = b"sec-websocket-key" in head.lower()
        self._transport.write(accepted(head) if self._open else _OK)

    def _messages(self) -> None:
        """Answer the frames that have arrived. A proxy may have changed a frame's mask, but not its
        size; only a close frame is shorter.
        """
        if self._data[0] & 0x0F == 0x8:
            self._transport.close()
            return
        count, rest = divmod(len(self._data), len(FROM_CLIENT))
        self._data = self._data[len(self._data) - rest :]
        if count:
            self._transport.write(FROM_SERVER * count)


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Echo, HOST, port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
