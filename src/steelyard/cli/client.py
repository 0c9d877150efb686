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

SILENCE = 20.0  # seconds; the agent sends a line or a heartbeat at least every five


class NoAgentError(SteelyardError):
    """No agent answers at its address."""

    fault = Fault.USER
    retry = True


class LostAgentError(NoAgentError):
    """The agent's answer broke off."""


class RefusedError(SteelyardError):
    """The agent answered with an error."""

    fault = Fault.USER


class _Guarded(urllib.request.HTTPHandler):
    """Sends nothing to a server of another user, since a request carries the token."""

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
    """Sends requests to one agent."""

    def __init__(self, address: Address, token_file: Path, timeout: float = 10.0) -> None:
        self._address = address.reachable
        self._token_file = token_file
        self._timeout = timeout
        # A proxy from the environment is meant for other hosts.
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
        """Yield the last lines of one worker or of all; with `follow`, until the agent stops."""
        asked: dict[str, Any] = {"lines": lines, "follow": follow, "probes": probes}
        query = urlencode(asked if worker is None else {**asked, "worker": worker})
        patience = SILENCE if follow else self._timeout
        with self._answering(), self._open("GET", f"/v1/logs?{query}", timeout=patience) as answer:
            for line in self._until_lost(answer):
                if line.strip():
                    yield LogLine.model_validate_json(line)

    def _until_lost(self, answer: Any) -> Iterator[bytes]:
        """Yield the lines of an answer; raise LostAgentError if it breaks off."""
        rest = b""
        try:
            # `readline` would take an answer that broke off for one that ended.
            while block := answer.read1(65536):
                *lines, rest = (rest + block).split(b"\n")
                yield from lines
        except (OSError, http.client.HTTPException) as error:
            raise LostAgentError(f"lost the connection to the agent on {self._address}") from error

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
        """Turn failures of a request into errors for people."""
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
            f"the program on {self._address} is not an agent of this version",
            hint="say where the agent is with --agent HOST:PORT",
        )


def _refused(error: urllib.error.HTTPError) -> RefusedError | None:
    """The error that the agent gave; None if the answer is not an agent's."""
    try:
        detail = json.loads(error.read())["detail"]
    except (ValueError, KeyError, TypeError):
        return None
    hint = "is this the --state of that agent?" if error.code == 401 else ""
    return RefusedError(f"the agent refused: {detail}", hint=hint)
