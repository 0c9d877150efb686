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

# Not keys: what workers get from us, the API's token, the file's path, which build runs; and what
# Kubernetes and Docker links set by themselves for a service that is called steelyard.
_NOT_KEYS = re.compile(
    rf"{PREFIX}(WORKER|APPLICATION|HOME|CPUS|MEMORY|CGROUPS|TOKEN|CONFIG|PURE|SERVICE_(HOST|PORT)(_\w+)?|PORT(_\w+)?)"
)


def read_environment(environ: Mapping[str, str]) -> Layer:
    """The keys among the variables; an empty variable is as good as none."""
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
    """The flags, by dotted name of the key."""
    keys = {key.dotted: key for key in every_key()}
    found = [(keys[dotted], text) for dotted, text in flags.items()]
    return layer_of([(key, text, f"flag {key.flags[0]}") for key, text in found])


def layer_of(texts: Iterable[tuple[Key, str, str]], problems: tuple[str, ...] = ()) -> Layer:
    """Keys with their text and its place, as a layer."""
    given: dict[str, Given] = {}
    for key, text, place in texts:
        try:
            given[key.dotted] = Given(value_of(key, text), place)
        except ValueError:
            expected = f"expected {key.expects}, as {key.form.value}"
            problems += (f"{key.dotted}: {expected}, got {quoted(text)} ({place})",)
    return Layer(given, problems)


def value_of(key: Key, text: str) -> Any:
    """The value as the file would have given it; what it must be is checked later."""
    may_be_json = key.form in {Form.WORDS, Form.RANGE, Form.PATHS} and text.lstrip().startswith("[")
    if may_be_json or key.form is Form.JSON:
        return json.loads(text)
    return shlex.split(text) if key.form is Form.WORDS else text
