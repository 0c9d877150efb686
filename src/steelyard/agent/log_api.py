"""The part of the API that returns what workers printed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from steelyard.agent.audience import Audience, Reader, last_lines
from steelyard.agent.loop import Agent
from steelyard.agent.probe_lines import other_than_probes
from steelyard.agent.problems import refusals
from steelyard.core.log_line import LogLine
from steelyard.errors import SteelyardError, UsageError
from steelyard.runtime.base import Shown
from steelyard.runtime.names import is_worker_name

JSON_LINES = "application/x-ndjson"
Lines = Annotated[int, Query(ge=0, le=100_000)]
REFUSED = refusals(
    status404="There is no log for this name.", status503="The runtime is unreachable now."
)
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One JSON object per line: `time` (null if unknown), `worker`, `text`, and "
        "`gap`. A line with a true `gap` stands for lines that were dropped before they were "
        "read. With `follow` there is an empty line every five seconds, as a heartbeat.",
        "content": {JSON_LINES: {"schema": {"type": "string"}}},
    }
}


class LineStream(StreamingResponse):
    """A response that streams lines as they are printed, and closes its reader at the end.

    The end is that of the stream, or the moment when the client disconnects.
    """

    media_type = JSON_LINES

    def __init__(self, audience: Audience, reader: Reader) -> None:
        super().__init__(_encoded(reader.lines()))
        self._audience = audience
        self._reader = reader

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._audience.join(self._reader)
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._audience.leave(self._reader)


def log_routes(agent: Agent) -> APIRouter:
    """The routes for logs."""
    router = APIRouter()

    @router.get("/v1/workers/{name}/logs", response_class=PlainTextResponse, responses=REFUSED)
    async def worker_logs(name: str, lines: Annotated[int, Query(ge=1, le=100_000)] = 100) -> str:
        """The last lines that a worker printed; the worker may have ended."""
        return await _tail(agent, name, lines)

    @router.get("/v1/logs", response_class=PlainTextResponse, responses={**STREAM, **REFUSED})
    async def logs(
        worker: str | None = None, lines: Lines = 100, follow: bool = False, probes: bool = False
    ) -> StreamingResponse:
        """The last lines of all workers, or of one worker that may have ended, with their times.

        With `follow` the stream goes on with the lines that are printed from now on. It includes
        the first lines of workers that start later, and the last lines of workers that end. Lines
        that the agent's own health checks caused are left out, unless `probes` is true.
        """
        if worker is not None:
            await _tail(agent, worker, 1)
        names = _names(agent) if worker is None else [worker]
        shown = _everything if probes else other_than_probes(agent.settings.probe.path)
        if not follow:
            told = _encoded(last_lines(agent.runtime, names, lines, shown))
            return StreamingResponse(told, media_type=JSON_LINES)
        return LineStream(agent.audience, _reader(agent, names, lines, shown, alone=bool(worker)))

    return router


def _reader(agent: Agent, names: list[str], lines: int, shown: Shown, *, alone: bool) -> Reader:
    reader = Reader(agent.runtime, shown, alone=alone)
    reader.begin(names, lines)
    return reader


def _names(agent: Agent) -> list[str]:
    return [worker.name for worker in agent.fleet.roster if worker.started]


def _everything(line: str) -> bool:
    return True


async def _tail(agent: Agent, name: str, lines: int) -> str:
    if not is_worker_name(name):
        raise HTTPException(404, "this is not a possible name of a worker")
    try:
        return await agent.runtime.logs(name, lines)
    except UsageError as error:
        raise HTTPException(404, str(error)) from error
    except SteelyardError as error:
        raise HTTPException(503, str(error)) from error


async def _encoded(lines: AsyncIterator[LogLine | None]) -> AsyncIterator[str]:
    async for line in lines:
        yield "\n" if line is None else f"{line.model_dump_json()}\n"
