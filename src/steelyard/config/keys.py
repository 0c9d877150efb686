"""The list of all keys, for the loader, the flags and the documentation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo

from steelyard.config.section import Section
from steelyard.config.settings import Settings
from steelyard.config.values import SIZE, Kind, Port

PREFIX = "STEELYARD_"


class Form(Enum):
    """How text in a variable or a flag becomes the value."""

    PLAIN = "plain text"
    PATH = "a path"
    PATHS = "a path or JSON"
    RANGE = "FIRST-LAST or JSON"
    WORDS = "shell words or JSON"
    JSON = "JSON"


_FORMS: Mapping[Any, Form] = {
    Path: Form.PATH,
    tuple[Path, ...]: Form.PATHS,
    tuple[str, ...]: Form.WORDS,
    tuple[Port, Port]: Form.RANGE,
    dict[str, str]: Form.JSON,
}
_KINDS: Mapping[Any, Kind] = {
    int: Kind("NUMBER", "a whole number"),
    float: Kind("NUMBER", "a number", show="{:g}".format),
    str: Kind("TEXT", "text"),
    Path: Kind("PATH", "a path"),
    tuple[str, ...]: Kind("WORDS", "a list of words", '["python", "app.py"]', json.dumps),
    dict[str, str]: Kind("JSON", "a table of texts", '{"DEBUG": "1"}', json.dumps),
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its place in the file, the values that it accepts, and its meaning."""

    section: str
    name: str
    kind: Kind
    form: Form
    bounds: str
    choices: tuple[str, ...]
    optional: bool
    default: Any
    description: str
    short: str

    @property
    def dotted(self) -> str:
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def parameter(self) -> str:
        """The name of the key as an argument of a Python function."""
        return self.dotted.replace(".", "_")

    @property
    def variable(self) -> str:
        return PREFIX + self.parameter.upper()

    @property
    def short_variable(self) -> str:
        """The variable that a person might expect from the short flag; no source reads it."""
        return PREFIX + self.short.removeprefix("--").replace("-", "_").upper()

    @property
    def flags(self) -> tuple[str, ...]:
        """The short flag, if there is one, and the long one."""
        long = "--" + self.parameter.replace("_", "-")
        return tuple(dict.fromkeys(flag for flag in (self.short, long) if flag))

    @property
    def type(self) -> str:
        noun = f"{self.kind.noun} {self.bounds}".rstrip()
        return f"{noun}, or none" if self.optional else noun

    @property
    def expects(self) -> str:
        """The phrase after “expected” in a message about a wrong value."""
        phrase = self.kind.expects(self.bounds)
        return f"{phrase}, or none" if self.optional else phrase

    def show(self, value: Any) -> str:
        return "none" if value is None else self.kind.show(value)


def every_key() -> tuple[Key, ...]:
    """All keys, in the order of the settings."""
    return tuple(_walk(Settings))


def sections() -> dict[str, type[Section]]:
    """The tables of the file, in the order of the settings."""
    kinds: dict[str, Any] = {
        name: field.annotation for name, field in Settings.model_fields.items()
    }
    return {name: kind for name, kind in kinds.items() if _is_section(kind)}


def section_meanings() -> dict[str, str]:
    """Each section with its docstring."""
    return {name: kind.__doc__ or "" for name, kind in sections().items()}


def _is_section(annotation: Any) -> TypeGuard[type[Section]]:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _walk(model: type[Section], section: str = "") -> Iterator[Key]:
    for name, field in model.model_fields.items():
        inner: Any = field.annotation
        if _is_section(inner):
            yield from _walk(inner, name)
        else:
            yield _key(section, name, field)


def _key(section: str, name: str, field: FieldInfo) -> Key:
    base, metadata, optional = _unwrap(field.annotation, field.metadata)
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    choices = get_args(base) if get_origin(base) is Literal else ()
    kind = _kind(base, metadata, choices)
    return Key(
        section=section,
        name=name,
        kind=kind,
        form=_FORMS.get(base, Form.PLAIN),
        bounds=_bounds(metadata, kind.show if kind is SIZE else "{:g}".format),
        choices=choices,
        optional=optional,
        default=field.default,
        description=field.description or "",
        short=str(extra.get("flag", "")),
    )


def _unwrap(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any], bool]:
    """The bare type below `| None` and Annotated, all metadata, and whether none is allowed."""
    optional = get_origin(annotation) in {Union, UnionType}
    if optional:
        [annotation] = (arg for arg in get_args(annotation) if arg is not NoneType)
    if get_origin(annotation) is Annotated:
        annotation, *inner = get_args(annotation)
        for item in inner:  # pydantic unpacks a Field only where it stands outermost
            metadata = [*metadata, *(item.metadata if isinstance(item, FieldInfo) else [item])]
    return annotation, metadata, optional


def _kind(base: Any, metadata: list[Any], choices: tuple[str, ...]) -> Kind:
    """The kind that the type carries, or else the one of its choices or of its Python type."""
    for item in metadata:
        if isinstance(item, Kind):
            return item
    if choices:
        return Kind("CHOICE", f"one of {', '.join(choices)}")
    return _KINDS[base]


def _bounds(metadata: list[Any], show: Callable[[Any], str]) -> str:
    """The bounds in words: `≥ 1`, `> 0`, `0…100`; `> 0` replaces a `≥ 0` of the same type."""
    found: dict[type, Any] = {type(item): item for item in metadata}
    above, floor = found.get(annotated_types.Gt), found.get(annotated_types.Ge)
    ceiling = found.get(annotated_types.Le)
    if floor and ceiling and not above:
        return f"{show(floor.ge)}…{show(ceiling.le)}"
    lower = f"> {show(above.gt)}" if above else f"≥ {show(floor.ge)}" if floor else ""
    upper = f"≤ {show(ceiling.le)}" if ceiling else ""
    return " and ".join(filter(None, (lower, upper)))
