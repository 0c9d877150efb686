"""How a table of the file is declared: its keys, and the rules that bind several of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

BROKEN = "broken_rules"  # the type of the pydantic error that carries broken rules


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on several keys, in words and as a function."""

    text: str
    keys: tuple[str, ...]
    holds: Callable[[Any], bool]


def key(default: Any, description: str, *, flag: str = "", **bounds: Any) -> Any:
    """A key: its default, its meaning, its short flag and its bounds."""
    extra: JsonDict | None = {"flag": flag} if flag else None
    return Field(default, description=description, json_schema_extra=extra, **bounds)


class Section(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False
    )
    rules: ClassVar[tuple[Rule, ...]] = ()

    @field_validator("*", mode="before")
    @classmethod
    def _no_stray_truth(cls, value: Any, info: ValidationInfo) -> Any:
        # pydantic accepts `true` as the number 1, which `min = true` never means.
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool) and field.annotation is not bool:
            raise ValueError("a truth value is not allowed here")
        return value

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        broken = tuple(rule for rule in self.rules if not rule.holds(self))
        if broken:
            text = "; ".join(rule.text for rule in broken)
            raise PydanticCustomError(BROKEN, "expected {text}", {"text": text, "rules": broken})
        return self
