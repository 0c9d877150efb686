"""How the API refuses a request, and how its OpenAPI document describes it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    """Why a request was refused: one sentence, or a list with the errors of its parts."""

    detail: str | list[dict[str, Any]]


def refusals(**reasons: str) -> dict[int | str, dict[str, Any]]:
    """The statuses of a route besides 200, as its OpenAPI document lists them."""
    # With FastAPI's `model`, a route that answers in plain text would list refusals as plain text.
    content = {"application/json": {"schema": Problem.model_json_schema()}}
    return {
        int(status.removeprefix("status")): {"description": why, "content": content}
        for status, why in reasons.items()
    }
