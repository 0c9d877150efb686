"""A client of the agent's API, for commands."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.core.log_line import LogLine
from steelyard.core.status import FleetStatus
from steelyard.errors import Fault, SteelyardError
from steelyard.peer_owner import require_agent
from steelyard.token import read_token

SILENCE = 20.0  # seconds without a line or a beat, of which there is one every five, is too long


class NoAgentError(SteelyardError):
    """Nobody answers where the agent should be."""

    fault = Fault.USER
    retry = True


class LostAgentError(NoAgentError):
    """The agent went away in the middle of its answer."""


class RefusedError(SteelyardError):
    """The agent answered, but not as wished."""

    fault = Fault.USER


class _Guarded(urllib.request.HTTPHandler):
    """Sends nothing, the token least of all, to a server of another user."""

    def __init__(self, token_file: Path) -> None:
        super().__init__()
        self._token_file = token_file

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        token_file = self._token_file

        class Connection(http.client.HTTPConnection):
            def connect(self) -> None:
                super().connect()
                require_agent(self.sock, token_file)

        return self.do_open(Connection, req)


class AgentClient:
    """Asks one agent."""

    def __init__(self, address: Address, token_file: Path, timeout: float = 10.0) -> None:
        self._address = address.reachable
        self._token_file = token_file
        self._timeout = timeout
        # A proxy of the environment is for other hosts than this one.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), _Guarded(token_file)
        )

    @classmethod
    def of(cls, settings: Settings) -> AgentClient:
        return cls(settings.agent.listen, settings.token_file)

    def status(self) -> FleetStatus:
        return self._fleet("GET", "/v1/status")

    def set_limits(self, low: int, high: int) -> FleetStatus:
        wanted = {"min": low, "max": high}
        return self._fleet("PUT", "/v1/limits", wanted)

    def drain(self, worker: str) -> FleetStatus:
        return self._fleet("POST", f"/v1/workers/{quote(worker, safe='')}/drain")

    def logs(self, worker: str, lines: int) -> str:
        return self._ask("GET", f"/v1/workers/{quote(worker, safe='')}/logs?lines={lines}").decode()

    def lines(
        self, worker: str | None, lines: int, *, follow: bool, probes: bool
    ) -> Iterator[LogLine]:
        """The last lines of one worker or of all; with `follow`, until the agent ends in order."""
        asked: dict[str, Any] = {"lines": lines, "follow": follow, "probes": probes}
        query = urlencode(asked if worker is None else {**asked, "worker": worker})
        patience = SILENCE if follow else self._timeout
        with self._answering(), self._open("GET", f"/v1/logs?{query}", timeout=patience) as answer:
            for line in self._until_lost(answer):
                if line.strip():
                    yield LogLine.model_validate_json(line)

    def _until_lost(self, answer: Any) -> Iterator[bytes]:
        """The lines of an answer; raise LostAgentError when it breaks off."""
        rest = b""
        try:
            # Not `readline`, which takes an answer that broke off for one that ended.
            while block := answer.read1(65536):
                *lines, rest = (rest + block).split(b"\n")
                yield from lines
        except (OSError, http.client.HTTPException) as error:
            raise LostAgentError(f"the agent on {self._address} went away") from error

    def _fleet(self, method: str, path: str, body: Any = None) -> FleetStatus:
        try:
            return FleetStatus.model_validate_json(self._ask(method, path, body))
        except ValidationError as error:
            raise self._stranger() from error

    def _ask(self, method: str, path: str, body: Any = None) -> bytes:
        with self._answering(), self._open(method, path, body) as answer:
            return bytes(answer.read())

    def _open(self, method: str, path: str, body: Any = None, timeout: float = 0.0) -> Any:
        request = urllib.request.Request(
            f"http://{self._address}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {read_token(self._token_file)}",
                "Content-Type": "application/json",
            },
        )
        return self._opener.open(request, timeout=timeout or self._timeout)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """What goes wrong with an answer, as an error for people."""
        try:
            yield
        except urllib.error.HTTPError as error:
            raise (_refused(error) or self._stranger()) from error
        except (http.client.HTTPException, ValidationError) as error:
            raise self._stranger() from error
        except OSError as error:
            raise NoAgentError(
                f"no agent answers on {self._address}",
                hint="start one with `steelyard up`, or say where it is with --agent HOST:PORT",
            ) from error

    def _stranger(self) -> RefusedError:
        return RefusedError(
            f"what answers on {self._address} is no agent of this version",
            hint="say where the agent is with --agent HOST:PORT",
        )


def _refused(error: urllib.error.HTTPError) -> RefusedError | None:
    """The agent's own words; None when it is no agent that speaks."""
    try:
        detail = json.loads(error.read())["detail"]
    except (ValueError, KeyError, TypeError):
        return None
    hint = "is this the --state of that agent?" if error.code == 401 else ""
    return RefusedError(f"the agent refused: {detail}", hint=hint)
