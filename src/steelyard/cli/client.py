"""A client of the agent's API, for commands."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.core.status import FleetStatus
from steelyard.errors import Fault, SteelyardError
from steelyard.token import read_token


class NoAgentError(SteelyardError):
    """Nobody answers where the agent should be."""

    fault = Fault.USER
    retry = True


class RefusedError(SteelyardError):
    """The agent answered, but not as wished."""

    fault = Fault.USER


class AgentClient:
    """Asks one agent."""

    def __init__(self, address: Address, token_file: Path, timeout: float = 10.0) -> None:
        self._address = address.reachable
        self._token_file = token_file
        self._timeout = timeout
        # A proxy of the environment is for other hosts than this one.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

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

    def _fleet(self, method: str, path: str, body: Any = None) -> FleetStatus:
        try:
            return FleetStatus.model_validate_json(self._ask(method, path, body))
        except ValidationError as error:
            raise self._stranger() from error

    def _ask(self, method: str, path: str, body: Any = None) -> bytes:
        request = urllib.request.Request(
            f"http://{self._address}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {read_token(self._token_file)}",
                "Content-Type": "application/json",
            },
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise (_refused(error) or self._stranger()) from error
        except http.client.HTTPException as error:
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
