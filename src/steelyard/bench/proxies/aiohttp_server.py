"""`python aiohttp_server.py LISTEN UPSTREAM`: a streaming reverse proxy in aiohttp.

It runs in the private environment, so it imports nothing of ours.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from aiohttp import ClientSession, TCPConnector, WSMsgType, web

HOST = "127.0.0.1"
HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "date", "server")
)
PIECE = 64 * 1024


class Proxy:
    """Forwards requests to one server."""

    def __init__(self, session: ClientSession, upstream: str) -> None:
        self._session = session
        self._upstream = upstream

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._tunnel(request)
        return await self._forward(request)

    async def _forward(self, request: web.BaseRequest) -> web.StreamResponse:
        async with self._session.request(
            request.method,
            self._upstream + request.path_qs,
            headers=forwarded(request),
            data=request.content if request.body_exists else None,
            allow_redirects=False,
        ) as answer:
            response = web.StreamResponse(status=answer.status, headers=end_to_end(answer.headers))
            response.headers["Via"] = "1.1 aiohttp"
            await response.prepare(request)
            async for piece in answer.content.iter_chunked(PIECE):
                await response.write(piece)
            await response.write_eof()
            return response

    async def _tunnel(self, request: web.BaseRequest) -> web.WebSocketResponse:
        client = web.WebSocketResponse()
        await client.prepare(request)
        async with self._session.ws_connect(self._upstream + request.path_qs) as server:
            await asyncio.wait(
                {
                    asyncio.create_task(pump(client, server)),
                    asyncio.create_task(pump(server, client)),
                },
                return_when=asyncio.FIRST_COMPLETED,
            )
        return client


async def pump(source: Any, target: Any) -> None:
    """Pass messages on in one direction, until the source ends."""
    async for message in source:
        if message.type is WSMsgType.TEXT:
            await target.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await target.send_bytes(message.data)


def end_to_end(headers: Any) -> dict[str, str]:
    """The fields that are not hop-by-hop."""
    return {name: value for name, value in headers.items() if name.lower() not in HOP_BY_HOP}


def forwarded(request: web.BaseRequest) -> dict[str, str]:
    """The request fields that the server gets."""
    headers = end_to_end(request.headers)
    headers["X-Forwarded-For"] = request.remote or ""
    headers["X-Forwarded-Proto"] = request.scheme
    headers["Via"] = "1.1 aiohttp"
    return headers


async def serve(listen: int, upstream: int) -> None:
    """Serve until the process is ended."""
    connector = TCPConnector(limit=0, keepalive_timeout=60)
    async with ClientSession(connector=connector, auto_decompress=False) as session:
        handler = Proxy(session, f"http://{HOST}:{upstream}").handle
        runner = web.ServerRunner(web.Server(handler, access_log=None, keepalive_timeout=300))
        await runner.setup()
        await web.TCPSite(runner, HOST, listen, backlog=4096).start()
        await asyncio.Event().wait()


def main() -> None:
    try:
        import uvloop
    except ImportError:
        run = asyncio.run
    else:
        run = uvloop.run
    run(serve(int(sys.argv[1]), int(sys.argv[2])))


if __name__ == "__main__":
    main()
