"""uvicorn around the application."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import uvicorn

from steelyard.demo.app import Demo
from steelyard.demo.endpoints import Identity
from steelyard.demo.onewrite import OneWriteProtocol


def serve(host: str, identity: Identity) -> None:
    """Serve until SIGTERM or SIGINT, then finish the open requests."""
    # `uvicorn` raises the signal again when it is done. Without these handlers, a worker that was
    # asked to end would seem to have failed.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    demo = Demo(identity)
    config = uvicorn.Config(
        demo,
        host=host,
        port=identity.port,
        loop="asyncio",
        http=OneWriteProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        backlog=512,
        timeout_keep_alive=75,  # longer than any balancer keeps a connection to a worker idle
        timeout_graceful_shutdown=10,
    )
    try:
        uvicorn.Server(config).run()
    finally:
        demo.close()


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
