"""The API over real HTTP."""

from __future__ import annotations

import pytest

from steelyard.config.settings import Store
from steelyard.core.events import Exited
from tests.agent.conftest import Served

GUARDED = [
    ("GET", "/v1/status"),
    ("GET", "/v1/workers"),
    ("GET", "/v1/decisions"),
    ("GET", "/v1/config"),
    ("PUT", "/v1/limits"),
    ("POST", "/v1/workers/w/drain"),
    ("GET", "/v1/workers/w/logs"),
    ("GET", "/v1/logs"),
    ("GET", "/metrics"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize("token", [None, "wrong-token"])
async def test_without_the_token_nothing_is_told_or_done(served: Served, method, path, token):
    """A request without the right token is answered 401, and the answer names the token."""
    async with served.http(token) as client:
        answer = await client.request(method, path)
    assert answer.status_code == 401
    assert "token" in answer.json()["detail"]


async def test_every_route_but_the_health_check_is_guarded(served: Served):
    """Every route of the API needs the token, also one that the list above does not have."""
    async with served.http() as client:
        paths = (await client.get("/v1/openapi.json")).json()["paths"]
    assert set(paths) == {"/healthz"} | {path.replace("/w/", "/{name}/") for _, path in GUARDED}


async def test_the_health_check_is_open(served: Served):
    """The health check needs no token, and returns nothing but that the agent answers."""
    async with served.http(None) as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_status_workers_and_decisions_are_told(served: Served):
    """The API returns the workers and decisions of the fleet."""
    names = served.boot()
    async with served.http() as client:
        status = (await client.get("/v1/status")).json()
        workers = (await client.get("/v1/workers")).json()
        decisions = (await client.get("/v1/decisions")).json()
    assert [worker["name"] for worker in workers] == names
    assert status["workers"] == workers or len(status["workers"]) == len(workers)
    assert [d["action"] for d in decisions] == ["start", "start"]


async def test_limits_are_changed(served: Served):
    """New limits apply at once, and are stored."""
    served.boot()
    async with served.http() as client:
        answer = await client.put("/v1/limits", json={"min": 3, "max": 6})
    assert (answer.json()["min"], answer.json()["max"]) == (3, 6)
    assert len(served.agent.fleet.roster.live()) == 3


@pytest.mark.parametrize("wanted", [{"min": 5, "max": 2}, {"min": 0, "max": 2}, {"min": 1}])
async def test_impossible_limits_are_refused(served: Served, wanted):
    """Impossible limits are answered 422 and change nothing."""
    async with served.http() as client:
        answer = await client.put("/v1/limits", json=wanted)
    assert answer.status_code == 422
    assert (served.agent.fleet.limits.min, served.agent.fleet.limits.max) == (2, 4)


async def test_a_worker_is_drained(served: Served):
    """A worker is drained by its name, and an unknown name is answered 404."""
    first, _ = served.boot()
    async with served.http() as client:
        answer = await client.post(f"/v1/workers/{first}/drain")
        unknown = await client.post("/v1/workers/nobody/drain")
    states = {worker["name"]: worker["state"] for worker in answer.json()["workers"]}
    assert states[first] in {"SUNDOWN", "SHUTDOWN"}
    assert unknown.status_code == 404


async def test_the_only_ready_worker_is_not_drained(served: Served):
    """Without the only ready worker clients would get 503 until its replacement has booted."""
    first, second = served.boot()
    served.agent.tell(Exited(second, "killed by SIGKILL"))
    async with served.http() as client:
        answer = await client.post(f"/v1/workers/{first}/drain")
    assert answer.status_code == 409
    assert "scale up first" in answer.json()["detail"]
    assert served.agent.fleet.roster.by_name[first].state == "LU"


async def test_logs_of_an_unknown_worker_are_404(served: Served):
    """The answer for an unknown worker is 404, with its name in a sentence."""
    async with served.http() as client:
        answer = await client.get("/v1/workers/nobody/logs")
    assert answer.status_code == 404
    assert "nobody" in answer.json()["detail"]


async def test_the_configuration_is_told(served: Served):
    """The API returns the configuration that is in force."""
    async with served.http() as client:
        told = (await client.get("/v1/config")).json()
    assert told["scaling"]["max"] == 4


async def test_metrics_are_in_prometheus_text(served: Served):
    """The metrics are in the text format of Prometheus."""
    served.boot()
    async with served.http() as client:
        answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'steelyard_workers{state="LU"} 2.0' in answer.text


async def test_more_workers_than_ports_are_refused(served: Served):
    """A max above the number of ports is refused, as it may be a typing error."""
    served.boot()
    async with served.http() as client:
        answer = await client.put("/v1/limits", json={"min": 1, "max": 100_000})
    assert answer.status_code == 422
    assert "ports for workers" in answer.json()["detail"]
    assert served.agent.fleet.limits.max == 4


async def test_the_configuration_is_told_without_the_password_of_the_store(served: Served):
    """The API returns the configuration with the password of the store left out."""
    store = Store(url="redis://me:secret@127.0.0.1:1/2?password=secret")
    served.agent.settings = served.agent.settings.model_copy(update={"store": store})
    async with served.http() as client:
        told = await client.get("/v1/config")
    assert told.json()["store"] == {"url": "redis://me@127.0.0.1:1/2"}
    assert told.json()["scaling"]["max"] == 4
