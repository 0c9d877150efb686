"""The API answers any request as its OpenAPI document says (schemathesis)."""

from __future__ import annotations

import asyncio

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from steelyard.agent.build import build_runtime
from steelyard.runtime.base import Runtime
from steelyard.runtime.stub import StubRuntime
from tests.agent.conftest import TOKEN, Served

# A JSON schema cannot say that min is at most max, and max at most the number of ports. So limits
# that the schema allows may be answered 422.
UNSAID = {"PUT /v1/limits": [positive_data_acceptance]}
EXAMPLES = 8  # for each operation, of which there are ten


def ask_everything(port: int, token: str | None) -> int:
    """Send any requests to each operation; each answer must be one of the documented ones.

    Returns how many answers were given.
    """
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/v1/openapi.json")
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answers = 0

    for operation in schema.get_all_operations():

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.ok().as_strategy())
        def ask(case: schemathesis.Case) -> None:
            nonlocal answers
            excluded = UNSAID.get(case.operation.label, [])
            case.call_and_validate(headers=headers, excluded_checks=excluded)
            answers += 1

        ask()
    return answers


async def end_streams(served: Served) -> None:
    """End each log stream with `follow` as the end of the agent would: it never ends by itself."""
    while True:
        served.agent.audience.end()
        await asyncio.sleep(0.01)


class WithLogs(StubRuntime):
    """A stub runtime with the logs of another runtime, which are real files."""

    def __init__(self, other: Runtime) -> None:
        super().__init__()
        self.logs = other.logs  # type: ignore[method-assign]
        self.lines = other.lines  # type: ignore[method-assign]


@pytest.mark.parametrize("token", [TOKEN, None], ids=["with the token", "without the token"])
async def test_every_answer_is_as_documented(served: Served, token: str | None):
    """Every answer has a documented status, type and body, and none is a 500."""
    served.boot()
    processes = build_runtime(served.agent.settings)
    await processes.open()
    served.agent.runtime = WithLogs(processes)
    ending = asyncio.create_task(end_streams(served))
    assert await asyncio.to_thread(ask_everything, served.port, token) > EXAMPLES
    ending.cancel()
    await processes.close()


NAMES = ["x" * 300, "ü" * 200, "%00", "%2E%2E", "a%2Fb", "%ED%A0%80", "a%0Ab", "."]


@pytest.mark.parametrize("name", NAMES, ids=[name[:8] for name in NAMES])
async def test_logs_of_a_worker_that_can_not_be_are_404(served: Served, name: str):
    """A name becomes part of a path, so names that are too long or lead elsewhere are 404."""
    served.agent.runtime = build_runtime(served.agent.settings)
    await served.agent.runtime.open()
    async with served.http() as client:
        answer = await client.get(f"/v1/workers/{name}/logs")
    await served.agent.runtime.close()
    assert answer.status_code == 404
