"""Starting a command so that it outlives the agent."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import StartError


def fill_port(command: tuple[str, ...], port: int) -> tuple[str, ...]:
    """`{port}` replaced in every word; other braces may be JSON or a template of the user's."""
    return tuple(word.replace("{port}", str(port)) for word in command)


def check_command(command: tuple[str, ...], directory: Path, path: str | None) -> None:
    """Raise StartError for what would fail at exec; a shell in between could only say "127"."""
    if not command:
        raise StartError(
            "there is no command to start", hint="steelyard up -- COMMAND --port {port}"
        )
    if not directory.is_dir():
        raise StartError(
            f"the folder {directory} does not exist", hint="see `directory` in [application]"
        )
    word = command[0]
    if "/" not in word and shutil.which(word, path=path) is None:
        raise StartError(f"{word}: not found", hint="is it installed, and its folder in PATH?")
    file = (directory / word).resolve()  # `which` would search PATH for "./serve" joined to "."
    if "/" in word and not file.exists():
        raise StartError(f"{word}: not found", hint=f"the command runs in {directory.resolve()}")
    if "/" in word and shutil.which(file) is None:
        raise StartError(f"{word}: not executable", hint=f"chmod +x {file}")


def spawn(
    command: tuple[str, ...], directory: Path, environment: Mapping[str, str], log: BinaryIO
) -> int:
    """Start the command as leader of a session of its own; its pid."""
    try:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # for instance: exec format error, a zero byte
        raise StartError(
            f"{command[0]}: {error}", hint="try the command by hand in the same folder"
        ) from error
    # We wait by pidfd. A Popen that is collected without a return code is waited for by the next
    # Popen of the program, which would take the exit code away from us.
    process.returncode = 0
    return process.pid
