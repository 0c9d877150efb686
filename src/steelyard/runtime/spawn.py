"""Starts a command in such a way that it outlives the agent."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import StartError

# one file per extra executable format, beside `register` and `status`
_FORMATS = Path("/proc/sys/fs/binfmt_misc")


def fill_port(command: tuple[str, ...], port: int) -> tuple[str, ...]:
    """Replace `{port}` in every word; other braces may be JSON or a template of the user's."""
    return tuple(word.replace("{port}", str(port)) for word in command)


def check_command(command: tuple[str, ...], directory: Path, path: str | None) -> None:
    """Raise StartError if exec would fail; the shell that joins the groups would only say "127"."""
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
    found = file if "/" in word else Path(shutil.which(word, path=path) or word)
    if not _has_format(directory / found):
        raise StartError(
            f"{word}: Exec format error", hint="a script begins with #! and its interpreter"
        )


def _has_format(file: Path) -> bool:
    """Whether the kernel can run the file; a shell would take any text file for a script."""
    try:
        with file.open("rb") as opened:
            begin = opened.read(4)
    except OSError:
        return True  # the file may be executed, but not read
    return begin.startswith(b"#!") or begin == b"\x7fELF" or any(_FORMATS.glob("[!rs]*"))


def spawn(
    command: tuple[str, ...], directory: Path, environment: Mapping[str, str], log: BinaryIO
) -> int:
    """Start the command as the leader of a new session; return its pid."""
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
    except (OSError, ValueError) as error:  # for instance a null byte in an argument
        raise StartError(
            f"{command[0]}: {error}", hint="try the command by hand in the same folder"
        ) from error
    # We wait through a pidfd. If a Popen without a return code is garbage-collected, the next Popen
    # of the program waits for its process, and the exit code is lost to us.
    process.returncode = 0
    return process.pid
