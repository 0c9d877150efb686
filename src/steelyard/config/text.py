"""Values that come as text: environment variables and flags."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from steelyard.config.keys import PREFIX, Form, Key, every_key
from steelyard.config.layer import Given, Layer
from steelyard.config.unknown import unknown_variable
from steelyard.config.words import quoted

# Variables with our prefix that are not keys: those that workers get from us, the token of the API,
# the path of the file, the choice of the pure build; and those that Kubernetes and Docker links set
# for a service called steelyard.
_NOT_KEYS = re.compile(
    rf"{PREFIX}(WORKER|APPLICATION|HOME|CPUS|MEMORY|CGROUPS|TOKEN|CONFIG|PURE|SERVICE_(HOST|PORT)(_\w+)?|PORT(_\w+)?)"
)


def read_environment(environ: Mapping[str, str]) -> Layer:
    """The layer of the environment; an empty variable counts as not set."""
    keys = {key.variable: key for key in every_key()}
    ours = {name: text for name, text in environ.items() if name.startswith(PREFIX) and text}
    strange = (name for name in ours if name not in keys and not _NOT_KEYS.fullmatch(name))
    problems = tuple(unknown_variable(name, keys) for name in strange)
    texts = [
        (keys[name], text, f"environment variable {name}")
        for name, text in ours.items()
        if name in keys
    ]
    return layer_of(texts, problems)


def read_flags(flags: Mapping[str, str]) -> Layer:
    """The layer of the flags, which are given by the dotted names of their keys."""
    keys = {key.dotted: key for key in every_key()}
    found = [(keys[dotted], text) for dotted, text in flags.items()]
    return layer_of([(key, text, f"flag {key.flags[0]}") for key, text in found])


def layer_of(texts: Iterable[tuple[Key, str, str]], problems: tuple[str, ...] = ()) -> Layer:
    """A layer from triples of key, text and place."""
    given: dict[str, Given] = {}
    for key, text, place in texts:
        try:
            given[key.dotted] = Given(value_of(key, text), place)
        except ValueError:
            expected = f"expected {key.expects}, as {key.form.value}"
            problems += (f"{key.dotted}: {expected}, got {quoted(text)} ({place})",)
    return Layer(given, problems)


def value_of(key: Key, text: str) -> Any:
    """The value as the file would give it; whether it is valid is checked later."""
    may_be_json = key.form in {Form.WORDS, Form.RANGE, Form.PATHS} and text.lstrip().startswith("[")
    if may_be_json or key.form is Form.JSON:
        return json.loads(text)
    return shlex.split(text) if key.form is Form.WORDS else text
