"""docs/configuration.md, written from the settings, so that it cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from steelyard.config.env_file import VARIABLES
from steelyard.config.example import EXAMPLE
from steelyard.config.file import parse_file
from steelyard.config.keys import Key, every_key, sections
from steelyard.config.layer import Layer
from steelyard.config.load import combine
from steelyard.config.section import Rule
from steelyard.config.settings import Settings
from steelyard.config.text import read_flags
from steelyard.errors import UsageError

_INTRO = """\
# Configuration

Steelyard has one configuration. It comes from these sources; a later one wins, key by key:

1. the file `steelyard.toml` in the working folder, or the one that `--config PATH` or the
   variable `STEELYARD_CONFIG` names;
2. a `.env` file that `--env-file PATH` names, with the variables of the next line or with those of
   [RustyBalancer](#rustybalancers-variables); a message says what became of each variable;
3. environment variables: `STEELYARD_` and the key, for instance `STEELYARD_SCALING_MIN=2`;
4. flags: `--scaling-cooldown 5`. Keys that are typed often also have a short flag: `--min 2`.

Every key can be given in each source. A key that is not given has its default.

- **Paths** in the file are relative to the file's folder, others to the working folder.
- **Times** are seconds, or have a unit: `500ms`, `2m`, `1h`. **Sizes** are bytes, or have a unit:
  `64KiB`, `512M`, `1G`; a K is 1024.
- **Addresses** are `HOST:PORT`. An address without a host is on loopback; `*` is every interface.
- **Lists and tables** in a variable or a flag are JSON. A command may also be shell words, in the
  file as well.
- **`none`** unsets a key that an earlier source set, if the table allows it. An empty environment
  variable counts as not set.
"""

_FLAWED = """\
[scaling]
mni = 2
max = 3
high = "most"

[gatway]
listen = 8080
"""

_CLASHING = """\
[scaling]
max = 3
"""


def document() -> str:
    """The whole page."""
    keys = ["## Keys\n", *_tables(), _shared_rules()]
    parts = [_INTRO, _example(), _errors(), *keys, _rusty_variables()]
    return "\n".join(parts)


def _example() -> str:
    return f"## An example\n\n```toml\n{EXAMPLE}```\n"


def _errors() -> str:
    """Real messages of the loader, with the file and the flag that cause them."""
    return (
        "## When something is wrong\n\n"
        "One message names all problems, each with its key, its place, the value, and what was "
        "expected. For an unknown name it suggests the nearest known one. This file\n\n"
        f"```toml\n{_FLAWED}```\n\nis refused with\n\n```text\n{_refusal(_FLAWED)}\n```\n\n"
        f"Keys that must fit together are named together. With\n\n```toml\n{_CLASHING}```\n\n"
        f"the flag `--min 5` is refused with\n\n"
        f"```text\n{_refusal(_CLASHING, read_flags({'scaling.min': '5'}))}\n```\n"
    )


def _refusal(text: str, *layers: Layer) -> str:
    try:
        combine([parse_file(text, "steelyard.toml", Path()), *layers])
    except UsageError as error:
        return str(error)
    raise AssertionError("the flawed example was accepted")


def _tables() -> Iterable[str]:
    keys = every_key()
    yield "### Top of the file\n\n" + _table(key for key in keys if not key.section)
    for name, section in sections().items():
        table = _table(key for key in keys if key.section == name)
        yield f"### [{name}]\n\n{section.__doc__}\n\n{table}{_rules(section.rules)}"


def _table(keys: Iterable[Key]) -> str:
    head = "| key | type | default | variable | flag | meaning |\n"
    return head + "| --- | --- | --- | --- | --- | --- |\n" + "".join(map(_row, keys))


def _row(key: Key) -> str:
    flags = ", ".join(f"`{flag}`" for flag in key.flags)
    default = f"`{key.show(key.default)}`"
    cells = (f"`{key.name}`", key.type, default, f"`{key.variable}`", flags, key.description)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _rules(rules: tuple[Rule, ...]) -> str:
    return f"\nRequired: {'; '.join(rule.text for rule in rules)}.\n" if rules else ""


def _shared_rules() -> str:
    lines = (
        f"- {' and '.join(f'`{key}`' for key in rule.keys)}: {rule.text}" for rule in Settings.rules
    )
    return "### Between sections\n\n" + "\n".join(lines) + "\n"


def _rusty_variables() -> str:
    """The table of the variables that `--env-file` knows."""
    rows = "".join(
        f"| `{name}` | {', '.join(f'`{key}`' for key in variable.keys)} | {variable.note} |\n"
        for name, variable in VARIABLES.items()
    )
    return (
        "## RustyBalancer's variables\n\n"
        "The table also has the variables of compose.yaml, as one file may serve both. "
        "RustyBalancer's load thresholds are scores, where 100 is best; ours are utilizations, "
        "100 − score.\n\n"
        f"| variable | key | note |\n| --- | --- | --- |\n{rows}"
    )
