"""Feed: the link to the agent. Queues come in, reports go out, in the control thread.

Of several agents only the one that leads listens, so they are tried in turn, the last one first.

A report goes out every second, and at once when it matters: when a new queue is being served
from, and when a worker that is being retired has finished its last exchange. While the agent is
lost the balancer serves on from what it has.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import re
import socket
from collections import deque
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from steelyard.balancer.intake import Intake
from steelyard.balancer.reporter import Reporter
from steelyard.core.queue import Queue, parse_queue
from steelyard.errors import MalformedError
from steelyard.select import SelectError

log = logging.getLogger(__name__)

EVERY = 1.0
BACKOFF_MIN = 0.1
BACKOFF_MAX = 2.0
PATIENT = 1.6  # until the back-off has grown so far: agent and balancers are started together
OPEN_TIMEOUT = 5.0
PING = 5.0  # an agent that vanished without a close is noticed within two of these
LARGEST_QUEUE = 16 * 2**20


class AgentSource(NamedTuple):
    """Where queues come from: from one of these agents, whichever leads."""

    urls: tuple[str, ...]  # ws://HOST:PORT; http:// is understood as the same
    token_file: Path


class Feed:
    """Keeps the link up for as long as the balancer runs."""

    def __init__(
        self,
        source: AgentSource,
        balancer: str,
        intake: Intake,
        reporter: Reporter,
        rng: random.Random,
    ) -> None:
        self._source = source
        self._agents = deque(source.urls)  # the one to try next is the first
        self._path = f"/v1/queue?balancer={quote(balancer, safe='')}"
        self._intake = intake
        self._reporter = reporter
        self._rng = rng
        self._leaving = asyncio.Event()
        self._served: Queue | None = None
        self._linked = False  # in this round
        self._troubles: list[str] = []  # of this round, since the last link
        self._complained = ""  # the trouble that was logged last, so that it is logged once
        self.news = asyncio.Event()  # there is something to report now

    async def run(self) -> None:
        """Until `leave`."""
        wait = BACKOFF_MIN
        while not self._leaving.is_set():
            self._linked = False
            await self._round(early=wait < PATIENT)
            if self._linked:
                wait = BACKOFF_MIN
            if not self._leaving.is_set():
                self._complain("; ".join(self._troubles))
                await _wait(self._leaving, wait * self._rng.uniform(0.5, 1.0))
                wait = min(2 * wait, BACKOFF_MAX)

    def leave(self) -> None:
        """Send the last report, if the link is up, and end."""
        self._leaving.set()
        self.news.set()

    async def _round(self, *, early: bool) -> None:
        """Try each agent once, and follow it for as long as it lasts."""
        self._troubles = []
        for _ in self._source.urls:
            if self._leaving.is_set():
                return
            agent = self._agents[0]
            if trouble := await self._visit(agent, early=early):
                self._troubles.append(f"agent at {agent}: {trouble}")
            self._agents.rotate(-1)

    async def _visit(self, agent: str, *, early: bool) -> str:
        """What went wrong, in the end."""
        trouble = "it closed the link"
        try:
            async with await self._connect(agent) as link:
                self._linked = True
                self._troubles, self._complained = [], ""
                log.info("linked to the agent at %s", agent)
                await self._talk(link)
        except InvalidStatus as error:
            trouble = self._refused(error.response.status_code)
        except (ConnectionRefusedError, NoTokenError, socket.gaierror) as error:
            # Whoever is started first waits for the other, and need not say so at once.
            trouble = "" if early and self._served is None else str(error)
        except (OSError, ValueError, WebSocketException) as error:
            trouble = str(error) or type(error).__name__
        except Exception:  # the link must outlive a bug of ours: a drain depends on it
            log.exception("the link to the agent failed")
            trouble = "an error of ours"
        return trouble

    async def _connect(self, agent: str) -> ClientConnection:
        token = await asyncio.to_thread(_read, self._source.token_file)
        return await connect(
            re.sub("^http", "ws", agent.rstrip("/")) + self._path,
            additional_headers={"Authorization": f"Bearer {token.strip()}"},
            open_timeout=OPEN_TIMEOUT,
            close_timeout=1.0,
            max_size=LARGEST_QUEUE,
            ping_interval=PING,
            ping_timeout=PING,
            proxy=None,  # never through the HTTP proxy that the environment may name
        )

    async def _talk(self, link: ClientConnection) -> None:
        tasks = {asyncio.create_task(self._listen(link)), asyncio.create_task(self._tell(link))}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _listen(self, link: ClientConnection) -> None:
        async for message in link:
            try:
                queue = parse_queue(message)
                self._intake.apply(queue)
            except (MalformedError, SelectError) as error:
                log.warning("a queue is ignored: %s", error)
            else:
                self._served = queue

    async def _tell(self, link: ClientConnection) -> None:
        while True:
            self.news.clear()
            leaving = self._leaving.is_set()
            draft = self._reporter.draft(farewell=leaving)
            await link.send(draft.report.model_dump_json())
            self._reporter.sent(draft)
            if leaving:
                return
            await _wait(self.news, EVERY)

    def _refused(self, status: int) -> str:
        if status in (401, 403):
            return f"it refuses the token in {self._source.token_file} (HTTP {status})"
        return f"it answered HTTP {status}"

    def _complain(self, trouble: str) -> None:
        """Once per kind of trouble: retries come several times a second."""
        if trouble == self._complained:
            return
        self._complained = trouble
        queue = self._served
        going_on = f"serving from queue {queue.version}" if queue else "no queue to serve from yet"
        log.error("%s; %s", trouble, going_on)


class NoTokenError(Exception):
    """The agent has not written its token yet, or elsewhere."""


def _read(token_file: Path) -> str:
    try:
        return token_file.read_text()
    except FileNotFoundError:
        raise NoTokenError(
            f"no token at {token_file} yet; the agent writes it on its first start: "
            "is one running, with this state folder?"
        ) from None


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
