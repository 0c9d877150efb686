"""How the API refuses a request, and how its OpenAPI document says so."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    """Why a request was refused: one sentence, or a list of the faults of its parts."""

    detail: str | list[dict[str, Any]]


def refusals(**reasons: str) -> dict[int | str, dict[str, Any]]:
    """The statuses of a route, beside 200, as its OpenAPI document lists them."""
    # Not by `model`: where a route answers in plain text, FastAPI would list that type for these.
    content = {"application/json": {"schema": Problem.model_json_schema()}}
    return {
        int(status.removeprefix("status")): {"description": why, "content": content}
        for status, why in reasons.items()
    }
