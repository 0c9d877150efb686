"""`steelyard logs --follow` as a user starts it."""

from __future__ import annotations

import asyncio
import json
import sys

from tests.e2e.gateway import Gateway
from tests.waiting import until

# A server that prints each path that it is asked for, unbuffered.
SPEAKER = (sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "{port}")


class Follower:
    """One `steelyard logs --follow --json`."""

    def __init__(self, g: Gateway, *words: str) -> None:
        where = ("--state", str(g.home), "--agent", f"127.0.0.1:{g.agent_port}")
        self._words = ("-m", "steelyard", "logs", *where, "--follow", "--json", *words)
        self.lines: list[dict[str, str]] = []

    async def __aenter__(self) -> Follower:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, *self._words, stdout=asyncio.subprocess.PIPE
        )
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def workers(self, text: str) -> list[str]:
        """The workers that printed a text, once for each time."""
        return [line["worker"] for line in self.lines if text in line["text"]]

    async def until(self, text: str, workers: set[str]) -> None:
        """Wait until these workers have printed a text."""

        async def look() -> bool:
            return workers <= {*self.workers(text)}

        await until(look)
