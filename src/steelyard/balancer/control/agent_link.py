"""AgentLink: the link to the agent. Queues come in, reports go out, in the control thread.

Of several agents, only the leader listens, so the link tries the agents in turn.

The link sends a report every second. It sends one at once when the data thread begins to use a new
queue, and when a worker that is being retired has finished its last exchange. While no agent is
linked, the balancer continues with the last queue.
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
from typing import Any, NamedTuple
from urllib.parse import quote

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from steelyard.balancer.control.intake import Intake
from steelyard.balancer.control.reporter import Reporter
from steelyard.core.queue import OTHER_APPLICATION, Queue, parse_queue
from steelyard.errors import MalformedError
from steelyard.peer_owner import StrangerError, require_agent
from steelyard.select import SelectError

log = logging.getLogger(__name__)

EVERY = 1.0
BACKOFF_MIN = 0.1
BACKOFF_MAX = 2.0
# Agent and balancers are started at the same time, and an agent whose Python modules have no
# bytecode yet takes several seconds. For this many seconds, a missing agent is not logged.
GRACE = 10.0
OPEN_TIMEOUT = 5.0
PING = 5.0  # seconds; an agent that vanished without a close is noticed within two pings
LARGEST_QUEUE = 16 * 2**20
LONGEST_REASON = 123  # octets of a reason in a Close frame (RFC 6455, 5.5)


class AgentSource(NamedTuple):
    """The agents that queues can come from; the leading agent sends them."""

    urls: tuple[str, ...]  # ws://HOST:PORT; http:// means the same
    token_file: Path
    application: str = ""  # the application to serve; empty: the application of the first queue


class AgentLink:
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
        self._agents = deque(source.urls)  # the first one is tried next
        self._path = f"/v1/queue?balancer={quote(balancer, safe='')}"
        self._intake = intake
        self._reporter = reporter
        self._rng = rng
        self._leaving = asyncio.Event()
        self._application = source.application
        self._served: Queue | None = None
        self._linked = False  # an agent accepted the link in this round
        self._troubles: list[str] = []  # the errors of this round since the last link
        self._complained = ""  # the error logged last, so that it is logged once
        self.news = asyncio.Event()  # there is something to report now

    async def run(self) -> None:
        """Keep the link up until `leave`."""
        wait = BACKOFF_MIN
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while not self._leaving.is_set():
            self._linked = False
            await self._round(early=loop.time() - begun < GRACE)
            if self._linked:
                wait = BACKOFF_MIN
            if not self._leaving.is_set():
                self._complain("; ".join(self._troubles))
                await _wait(self._leaving, wait * self._rng.uniform(0.5, 1.0))
                wait = min(2 * wait, BACKOFF_MAX)

    def leave(self) -> None:
        """End `run`, after a last report if the link is up."""
        self._leaving.set()
        self.news.set()

    async def _round(self, *, early: bool) -> None:
        """Try each agent once; a link lasts as long as the agent keeps it."""
        self._troubles = []
        for _ in self._source.urls:
            if self._leaving.is_set():
                return
            agent = self._agents[0]
            if trouble := await self._visit(agent, early=early):
                self._troubles.append(f"agent at {agent}: {trouble}")
            self._agents.rotate(-1)

    async def _visit(self, agent: str, *, early: bool) -> str:
        """Link to an agent until the link ends; return what ended it, or "" to log nothing."""
        trouble = "it closed the link"
        complained = self._complained
        try:
            async with await self._connect(agent) as link:
                self._linked = True
                self._troubles, self._complained = [], ""
                log.info("linked to the agent at %s", agent)
                try:
                    await self._talk(link)
                except WrongApplicationError:  # the agent shows the reason in its status
                    await link.close(OTHER_APPLICATION, _cut(self._application))
                    raise
        except WrongApplicationError as error:
            # Treat it as if there had been no link, so that retries slow down and the error is
            # logged once.
            self._linked, self._complained = False, complained
            trouble = str(error)
        except InvalidStatus as error:
            trouble = self._refused(error.response.status_code)
        except StrangerError as error:
            trouble = error.message
        except (ConnectionRefusedError, NoTokenError, socket.gaierror) as error:
            # A balancer that is started before its agent waits, and does not log that at once.
            trouble = "" if early and self._served is None else _in_words(error)
        except (OSError, ValueError, WebSocketException) as error:
            trouble = str(error) or type(error).__name__
        except Exception:  # the link must survive a bug: draining depends on it
            log.exception("the link to the agent failed")
            trouble = "an error of ours"
        return trouble

    async def _connect(self, agent: str) -> ClientConnection:
        source = self._source
        token = await asyncio.to_thread(_read, source.token_file)

        class GuardedLink(ClientConnection):
            async def handshake(self, *words: Any, **options: Any) -> None:
                """Send nothing, and above all no token, to a server of another user."""
                require_agent(self.transport.get_extra_info("socket"), source.token_file)
                await super().handshake(*words, **options)

        return await connect(
            re.sub("^http", "ws", agent.rstrip("/")) + self._path,
            additional_headers={"Authorization": f"Bearer {token.strip()}"},
            create_connection=GuardedLink,
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
                self._check_application(queue)
                self._intake.apply(queue)
            except (MalformedError, SelectError) as error:
                log.warning("a queue is ignored: %s", error)
            else:
                self._served, self._application = queue, queue.application

    def _check_application(self, queue: Queue) -> None:
        """Refuse another application's queue. Otherwise a wrong agent address would replace the
        workers by those of another application."""
        if self._application and queue.application != self._application:
            raise WrongApplicationError(
                f"it leads the application {queue.application!r}, not {self._application!r}; "
                "check --agent and --name"
            )

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
        """Log an error once until it changes, because retries come several times a second."""
        if trouble == self._complained:
            return
        self._complained = trouble
        queue = self._served
        going_on = f"serving from queue {queue.version}" if queue else "no queue to serve from yet"
        log.error("%s; %s", trouble, going_on)


def _cut(reason: str) -> str:
    """Cut a reason to the length that fits into a Close frame."""
    return reason.encode()[:LONGEST_REASON].decode(errors="ignore")


def _in_words(error: Exception) -> str:
    """Describe an error; the system's text for a refused connection contains no advice."""
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens there; is the agent running?"
    return str(error)


class WrongApplicationError(Exception):
    """The agent leads another application than the balancer serves."""


class NoTokenError(Exception):
    """The token file does not exist: the agent has not written it yet, or to another place."""


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
