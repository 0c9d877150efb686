"""The Pythons that `make test-pythons` finds."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.pythons import found


def program(file: Path, *lines: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    file.chmod(0o755)
    return file


def test_each_version_is_found_once_whether_on_path_or_in_pyenv(tmp_path: Path) -> None:
    """A shim that refuses to run hides no version; old and unfinished versions are left out."""
    path, pyenv = tmp_path / "bin", tmp_path / "pyenv"
    program(path / "python3.12", "exit 127")
    program(path / "python3.10", "echo 3 10 final")
    program(path / "python3.99", "echo 3 99 alpha")
    program(path / "python3.98-config", "echo 3 98 final")
    first = program(path / "python3.13", "echo 3 13 final")
    program(pyenv / "versions/3.13.0/bin/python3.13", "echo 3 13 final")
    hidden = program(pyenv / "versions/3.12.1/bin/python3.12", "echo 3 12 final")
    environment = {"PATH": str(path), "PYENV_ROOT": str(pyenv)}
    assert list(found(environment).items()) == [((3, 12), hidden), ((3, 13), first)]


def test_a_real_python_is_found(tmp_path: Path) -> None:
    """A Python is asked for its version, whatever its file is called."""
    (tmp_path / "python3.0").symlink_to(sys.executable)
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    assert found(environment) == {sys.version_info[:2]: tmp_path / "python3.0"}
