"""The agent's API: status, workers, decisions, limits, drain, logs, configuration, metrics, and
the WebSocket on which balancers get the queue and send their reports.

Everything but the health check and the OpenAPI document needs the token: `Authorization: Bearer …`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Response, WebSocket
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field

import steelyard
from steelyard.agent.log_api import log_routes
from steelyard.agent.loop import Agent
from steelyard.agent.problems import refusals
from steelyard.config.settings import Settings, Store
from steelyard.core.bounds import LARGEST_FLEET, Name
from steelyard.core.events import DrainAsked, LimitsAsked
from steelyard.core.status import DecisionStatus, FleetStatus, WorkerStatus
from steelyard.store.url import without_secrets

POLICY_VIOLATION = 1008
BEARER = HTTPBearer(auto_error=False)


class Limits(BaseModel):
    """How many workers there may be."""

    model_config = ConfigDict(extra="forbid")

    min: int = Field(ge=1, le=LARGEST_FLEET)
    max: int = Field(ge=1, le=LARGEST_FLEET)


UNAUTHORIZED = refusals(status401="The token is missing or wrong.")


def build_api(agent: Agent, token: str) -> FastAPI:
    """The application that the agent serves."""
    app = FastAPI(
        title="Steelyard agent",
        version=steelyard.__version__,
        docs_url=None,  # FastAPI's page would load scripts from another host
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.include_router(_open_routes())
    guarded = [Depends(_guard(token))]
    for routes in (_routes(agent), log_routes(agent)):
        app.include_router(routes, dependencies=guarded, responses=UNAUTHORIZED)
    app.include_router(_link(agent, token))
    return app


def _guard(token: str) -> Callable[..., None]:
    def check(sent: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]) -> None:
        if sent is None or not _same(sent.credentials, token):
            raise HTTPException(
                401,
                "this needs the token in the agent's state folder: Authorization: Bearer …",
                headers={"WWW-Authenticate": "Bearer"},
            )

    return check


def _same(sent: str, token: str) -> bool:
    return secrets.compare_digest(sent.encode(), token.encode())


def _open_routes() -> APIRouter:
    router = APIRouter()

    @router.get("/healthz")
    def healthz() -> dict[str, str]:
        """Whether the agent answers; needs no token."""
        return {"status": "ok"}

    return router


def _routes(agent: Agent) -> APIRouter:
    router = APIRouter()

    @router.get("/v1/status")
    async def status() -> FleetStatus:
        """The fleet: limits, verdict, workers, balancers, last decisions."""
        return agent.status()

    @router.get("/v1/workers")
    async def workers() -> list[WorkerStatus]:
        """The workers alone."""
        return agent.status().workers

    @router.get("/v1/decisions")
    async def decisions() -> list[DecisionStatus]:
        """The last decisions, each with its reason; the newest is the last."""
        return agent.status().decisions

    @router.get("/v1/config")
    async def config() -> Settings:
        """The settings that the agent runs with, without the password of the store."""
        store = Store(url=without_secrets(agent.settings.store.url))
        return agent.settings.model_copy(update={"store": store})

    @router.put(
        "/v1/limits",
        responses=refusals(
            status400="The body cannot be read.", status422="The limits are impossible."
        ),
    )
    async def limits(wanted: Limits) -> FleetStatus:
        """Set new limits, which also hold after a restart of the agent."""
        if wanted.min > wanted.max:
            raise HTTPException(422, f"min {wanted.min} is above max {wanted.max}")
        if not agent.settings.ports_suffice(wanted.max):
            first, last = agent.settings.runtime.ports
            raise HTTPException(
                422, f"max {wanted.max} is more than there are ports for workers, {first}…{last}"
            )
        agent.tell(LimitsAsked(wanted.min, wanted.max))
        return agent.status()

    @router.post(
        "/v1/workers/{name}/drain",
        responses=refusals(
            status404="No worker has this name.", status409="No other worker is ready."
        ),
    )
    async def drain(name: str) -> FleetStatus:
        """Send this worker no new requests, start a replacement, and stop it when it is done."""
        _may_go(agent, name)
        agent.tell(DrainAsked(name))
        return agent.status()

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """The metrics in the text format of Prometheus."""
        text = agent.metrics.expose(agent.status())
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    return router


def _may_go(agent: Agent, name: str) -> None:
    if agent.fleet.roster.get(name) is None:
        raise HTTPException(404, f"no worker named {name}")
    if agent.fleet.roster.alone(name):
        raise HTTPException(
            409, f"{name} is the only worker that is ready: scale up first, then drain it"
        )


def _link(agent: Agent, token: str) -> APIRouter:
    router = APIRouter()

    @router.websocket("/v1/queue")
    async def queue(socket: WebSocket, balancer: Name) -> None:
        scheme, _, sent = socket.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not _same(sent, token):
            # Closed before it is accepted, the client gets an HTTP 403.
            await socket.close(POLICY_VIOLATION, "wrong token")
            return
        await socket.accept()
        await agent.hub.serve(socket, balancer)

    return router
