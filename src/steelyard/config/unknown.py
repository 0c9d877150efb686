"""Messages for names that no key has, with the nearest known name."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from steelyard.config.keys import Key, every_key


def unknown_key(section: str, name: str, place: str, keys: Collection[Key]) -> str:
    dotted = f"{section}.{name}" if section else name
    return f"{dotted}: unknown key ({place}){_hint(_right_key(section, name, keys))}"


def unknown_section(name: str, place: str, sections: Collection[str]) -> str:
    near = _near(name, sections)
    every = f"the sections are {', '.join(sections)}"
    hint = f"did you mean [{near}]? ({every})" if near else every
    return f"[{name}]: unknown section ({place}){_hint(hint)}"


def unknown_variable(name: str, variables: Collection[str], place: str = "") -> str:
    near = _of_short_flag(name) or _near(name, variables)
    hint = f"did you mean {near}?" if near else "no key has this name"
    return f"{name}: unknown environment variable{place and f' ({place})'}{_hint(hint)}"


def _of_short_flag(name: str) -> str:
    """The variable of the key whose short flag this variable is named after.

    `--listen` is the short flag of `gateway.listen`, so STEELYARD_LISTEN means
    STEELYARD_GATEWAY_LISTEN, although STEELYARD_AGENT_LISTEN is spelt more alike.
    """
    short = {key.short_variable: key.variable for key in every_key() if key.short}
    return short.get(name, "")


def _right_key(section: str, name: str, keys: Collection[Key]) -> str:
    """A hint: the same name in another section, or a similar one in this or in any section."""
    homes = [key.section for key in keys if key.name == name]
    if homes:
        return f"`{name}` belongs {' or '.join(_home(home) for home in homes)}"
    here = {key.name: key.dotted for key in keys if key.section == section}
    anywhere = {key.name: key.dotted for key in keys}
    for names in (here, anywhere):
        if near := _near(name, names):
            return f"did you mean {names[near]}?"
    return f"the keys of [{section}] are {', '.join(here)}" if section else ""


def _home(section: str) -> str:
    return f"to [{section}]" if section else "to the top of the file, before any section"


def _near(name: str, names: Collection[str]) -> str:
    return next(iter(get_close_matches(name, names, n=1)), "")


def _hint(text: str) -> str:
    return f" → {text}" if text else ""
