"""Makes one Settings from file, environment and flags, or one error that names every problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from steelyard.config.explain import explain
from steelyard.config.file import read_file
from steelyard.config.keys import Key, every_key
from steelyard.config.layer import Given, Layer
from steelyard.config.settings import Settings
from steelyard.config.text import read_environment, read_flags
from steelyard.errors import UsageError


def load_settings(
    file: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    env_file: Layer | None = None,
) -> Settings:
    """The settings, or a UsageError that names every problem.

    `flags` and `overrides` are given by dotted key. Overrides are values instead of text, and win
    over all other sources.
    """
    layers = [
        read_file(file) if file else Layer({}),
        env_file or Layer({}),
        read_environment(environ),
        read_flags(flags),
        Layer({name: Given(value, "command line") for name, value in (overrides or {}).items()}),
    ]
    return combine(layers)


def combine(layers: Sequence[Layer]) -> Settings:
    """One Settings from all layers; a later layer wins over an earlier one."""
    keys = {key.dotted: key for key in every_key()}
    given: dict[str, Given] = {}
    for layer in layers:
        given.update(layer.given)
    problems = [problem for layer in layers for problem in layer.problems]
    try:
        settings = Settings.model_validate(_nested(keys, given))
    except ValidationError as error:
        # If a source could not be read, two keys may seem to clash because one of them is unknown.
        problems += explain(error, keys, given, rules=all(layer.complete for layer in layers))
    if problems:
        raise UsageError(_message(problems))
    return settings


def _nested(keys: Mapping[str, Key], given: Mapping[str, Given]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for dotted, found in given.items():
        key = keys[dotted]
        table = data.setdefault(key.section, {}) if key.section else data
        table[key.name] = None if key.optional and found.value == "none" else found.value
    return data


def _message(problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    lines = "".join(f"\n  {problem}" for problem in problems)
    return f"{len(problems)} problems in the configuration:{lines}"
