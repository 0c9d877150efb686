"""The line that ends a start: the application's URL, and the command to type next."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from rich.markup import escape

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.purity import build_name


def serving_line(settings: Settings, address: Address, workers: int, program: str) -> str:
    """The line, in rich's markup; its command works in any terminal as it stands."""
    url = f"{settings.gateway.scheme}://{address}"
    command = " ".join([program, "status", *agent_flags(settings)])
    return (
        f"[bold green]serving {settings.application.name} on {escape(url)}[/] "
        f"({build_name()}; workers: {workers}; `{escape(command)}` shows them, Ctrl-C stops)"
    )


def agent_flags(settings: Settings) -> list[str]:
    """The flags with which `status`, `scale`, `drain` and `logs` find the agent.

    Only values that differ from the defaults need a flag: another terminal may be in another
    folder, and has neither the flags nor the variables of this start.
    """
    default, flags = Settings(), []
    if settings.agent.listen != default.agent.listen:
        flags += ["--agent", str(settings.agent.listen.reachable)]
    if settings.token_file != default.token_file:
        flags += ["--state", shlex.quote(str(settings.token_file.absolute().parent))]
    return flags


def program_name() -> str:
    """The name of this program, as somebody in the same folder would type it."""
    given = Path(sys.argv[0])
    if given.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m steelyard"
    found = shutil.which(given.name)
    known = found is not None and Path(found).resolve() == given.resolve()
    return given.name if known else shlex.quote(str(given))
