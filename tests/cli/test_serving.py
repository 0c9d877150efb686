"""The line that ends a start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rich.text import Text

from steelyard import purity
from steelyard.cli.serving import program_name, serving_line
from steelyard.config.load import load_settings
from steelyard.config.settings import Settings
from steelyard.config.values import Address


def line(settings: Settings) -> str:
    """The line without its colours."""
    return Text.from_markup(serving_line(settings, Address("127.0.0.1", 80), 4, "steelyard")).plain


def test_nothing_is_said_that_need_not_be() -> None:
    """With the defaults the command is short; the build is named."""
    assert line(Settings()) == (
        f"serving app on http://127.0.0.1:80 ({purity.build_name()}; workers: 4; "
        "`steelyard status` shows them, Ctrl-C stops)"
    )


def test_flags_of_the_start_are_flags_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wildcard address becomes loopback in the command, and a folder becomes absolute."""
    monkeypatch.chdir(tmp_path)
    settings = load_settings(None, {}, {"agent.listen": "*:9999", "state": "my state"})
    expected = f"`steelyard status --agent 127.0.0.1:9999 --state '{tmp_path}/my state'`"
    assert expected in line(settings)


def test_a_program_is_named_so_that_a_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program outside of PATH keeps the path by which it was called."""
    program = tmp_path / "steelyard"
    program.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program_name() == str(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_name() == "steelyard"
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    assert program_name() == f"{sys.executable} -m steelyard"
