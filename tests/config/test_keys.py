"""The list of keys that flags, variables and documents are made from."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from steelyard.config.keys import Form, Key, every_key, section_meanings
from steelyard.config.settings import Settings


def keys() -> dict[str, Key]:
    return {key.dotted: key for key in every_key()}


def test_every_field_of_the_settings_is_a_key() -> None:
    """Every field of the settings is a key, so it can also be set by a variable or a flag."""
    dumped = Settings().model_dump()
    nested = {
        f"{top}.{name}"
        for top, table in dumped.items()
        if top in section_meanings()
        for name in table
    }
    assert set(keys()) == nested | {"state"}


def test_variables_and_flags_are_unambiguous() -> None:
    """No two keys share a variable, a flag or a parameter."""
    for names in (
        [key.variable for key in every_key()],
        [key.parameter for key in every_key()],
        list(chain.from_iterable(key.flags for key in every_key())),
    ):
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_names_of_a_key() -> None:
    """The variable and the long flag follow from section and name; the short flag comes first."""
    minimum, cooldown, state = (
        keys()[name] for name in ("scaling.min", "scaling.dwell_up", "state")
    )
    assert (minimum.variable, minimum.flags) == (
        "STEELYARD_SCALING_MIN",
        ("--min", "--scaling-min"),
    )
    assert cooldown.flags == ("--scaling-dwell-up",)
    assert (state.variable, state.flags) == ("STEELYARD_STATE", ("--state",))


def test_types_read_as_words() -> None:
    """Type and bounds of a key are described in words."""
    types = {name: key.type for name, key in keys().items()}
    assert types["scaling.min"] == "a whole number ≥ 1"
    assert types["gateway.processes"] == "a whole number 1…64"
    assert types["score.smoothing"] == "a number > 0 and ≤ 1"
    assert types["runtime.memory"] == "a size in bytes ≥ 1MiB, or none"
    assert types["probe.interval"] == "a time in seconds > 0"
    assert types["scaling.policy"].startswith("one of step, target, predictive, fixed")


def test_defaults_are_shown_as_they_are_written() -> None:
    """Defaults are shown with units, colons, and `none` for a missing value."""
    shown = {name: key.show(key.default) for name, key in keys().items()}
    assert shown["gateway.head"] == "32KiB"
    assert shown["gateway.listen"] == "127.0.0.1:8080"
    assert shown["runtime.ports"] == "21000-29999"
    assert shown["runtime.memory"] == "none"


def test_forms_of_text() -> None:
    """A command is shell words, a table is JSON, a port range has its own form."""
    forms = {name: key.form for name, key in keys().items() if key.form is not Form.PLAIN}
    assert forms == {
        "state": Form.PATH,
        "application.command": Form.WORDS,
        "application.directory": Form.PATH,
        "application.environment": Form.JSON,
        "runtime.ports": Form.RANGE,
        "runtime.volumes": Form.WORDS,
        "runtime.capabilities": Form.WORDS,
        "runtime.constraints": Form.WORDS,
        "gateway.workers": Form.WORDS,
        "gateway.tls_cert": Form.PATHS,
        "gateway.tls_key": Form.PATHS,
        "gateway.trusted_proxies": Form.WORDS,
        "gateway.sticky_secret": Form.PATH,
    }


def test_every_key_and_section_has_a_meaning() -> None:
    """A key without a description would be an empty cell in the documentation."""
    assert all(key.description.endswith(".") for key in every_key())
    assert all(section_meanings().values())


def test_bounds_below_none_are_kept() -> None:
    """The document and the errors tell the bounds of `Annotated[…, Field(…)] | None`."""
    assert keys()["scaling.target_utilization"].bounds == "> 0 and ≤ 100"
    assert keys()["gateway.client_connections"].bounds == "≥ 1"
