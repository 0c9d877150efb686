"""The ASGI application."""

from __future__ import annotations

from steelyard.demo.endpoints import ENDPOINTS, Identity, Worker
from steelyard.demo.exchange import Exchange, Message, Receive, Send
from steelyard.demo.query import BadQueryError


class Demo:
    """Finds the endpoint of a path. A hanging worker answers nothing any more, not even /health."""

    def __init__(self, identity: Identity) -> None:
        self.worker = Worker(identity)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send, self.worker.identity.worker)
        if self.worker.hanging:
            return await exchange.gone()
        try:
            return await self._answer(exchange)
        except ConnectionResetError:
            return None  # the client hung up in the middle of its body, and waits for no answer

    async def _answer(self, exchange: Exchange) -> None:
        endpoint = ENDPOINTS.get(exchange.path)
        if endpoint is None:
            return await exchange.text(f"not found; there are {' '.join(ENDPOINTS)}", 404)
        try:
            return await endpoint(self.worker, exchange)
        except BadQueryError as error:
            return await exchange.text(str(error), 400)

    def close(self) -> None:
        self.worker.burner.close()
