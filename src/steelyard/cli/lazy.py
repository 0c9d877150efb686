"""The commands by name; the module of a command is imported when the command is used.

`steelyard --version` needs no such module, and most commands need neither the settings nor a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from steelyard.errors import UsageError

SERVE, WATCH, PARTS = "Serve", "Watch and steer", "The parts, each alone"
SPREAD, MEASURE = "Without a gateway", "Measure"


class Entry(NamedTuple):
    """How `--help` groups a command, and how the command parses its arguments."""

    panel: str
    form: str = ""  # the class in `cli/options.py` that adds the keys of the settings as flags
    words: bool = False  # the command's last arguments are another command
    group: bool = False  # the name stands for a group of commands


COMMANDS: Mapping[str, Entry] = {
    "up": Entry(SERVE, "ConfiguredCommand", words=True),
    "demo": Entry(SERVE, "ConfiguredCommand"),
    "check": Entry(SERVE, "ConfiguredCommand", words=True),
    "status": Entry(WATCH),
    "scale": Entry(WATCH),
    "drain": Entry(WATCH),
    "logs": Entry(WATCH),
    "down": Entry(WATCH, "ConfiguredCommand"),
    "agent": Entry(PARTS, "ConfiguredCommand", words=True),
    "balancer": Entry(PARTS, "BalancerCommand"),
    "mesh": Entry(SPREAD, group=True),
    "bench": Entry(MEASURE, group=True),
    "lab": Entry(MEASURE, group=True),
}
# People try these names, and the most similar existing name would mislead them.
INSTEAD: Mapping[str, str] = {
    "restart": "`steelyard drain WORKER` replaces a worker without cutting a request; Ctrl-C and "
    "`steelyard up` start everything anew; `kill -HUP` of `steelyard up` rereads the configuration",
    "reload": "`kill -HUP` of `steelyard up` reads the configuration anew, and cuts no request",
    "start": "`steelyard up -- COMMAND` starts and serves an application",
    "run": "`steelyard up -- COMMAND` starts and serves an application",
    "serve": "`steelyard up -- COMMAND` starts and serves an application",
    "stop": "Ctrl-C, or `steelyard down`, finishes open requests and stops everything",
    "ps": "`steelyard status` shows the workers",
}


class LazyGroup(TyperGroup):
    """The group of all commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = COMMANDS.get(cmd_name)
        return None if entry is None else _load(cmd_name, entry)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise UsageError(f"there is no command `{name}`", hint=_meant(name))
        return super().resolve_command(ctx, args)


def _meant(name: str) -> str:
    if name in INSTEAD:
        return INSTEAD[name]
    near = get_close_matches(name, COMMANDS, n=1)
    return f"did you mean `steelyard {near[0]}`?" if near else "`steelyard --help` lists them all"


def _load(name: str, entry: Entry) -> Any:
    """Load the command, or the group of commands, from the module of the same name."""
    module = import_module(f"steelyard.cli.{name}")
    if entry.group:
        group: Any = typer.main.get_group(getattr(module, f"{name}_app")())
        group.name, group.rich_help_panel = name, entry.panel
        return group
    app = typer.Typer(add_completion=False)
    app.command(
        name,
        cls=getattr(import_module("steelyard.cli.options"), entry.form) if entry.form else None,
        rich_help_panel=entry.panel,
        # Options after the first word of another command belong to that command.
        context_settings={"allow_interspersed_args": False} if entry.words else None,
    )(getattr(module, name))
    return typer.main.get_command(app)
