"""The environment decides which build runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard import purity

ASK = "import steelyard.balancer.http.grammar as g, steelyard.select as s; print(g.__file__)"


def run(wish: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter with this value of the variable."""
    env = {**os.environ, purity.VARIABLE: wish}
    return subprocess.run([sys.executable, "-c", ASK], env=env, capture_output=True, text=True)


def test_pure_on_demand() -> None:
    """With 1 the source is run, whether it was compiled or not."""
    assert run("1").stdout.strip().endswith("grammar.py")


@pytest.mark.needs("compiled")
def test_compiled_when_built() -> None:
    """Without the variable, and with 0, the extension modules are used."""
    assert run("").stdout.strip().endswith(".so")
    assert run("0").stdout.strip().endswith(".so")


def test_a_wish_that_cannot_be() -> None:
    """An unknown value is refused with the allowed ones."""
    done = run("yes")
    assert done.returncode != 0
    assert "STEELYARD_PURE is 1 (plain Python) or 0 (compiled only)" in done.stderr


def test_compiled_only_where_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the compiled build is demanded but missing, the error says how to build it."""
    monkeypatch.setattr(purity, "is_built", lambda: False)
    monkeypatch.setenv(purity.VARIABLE, "0")
    with pytest.raises(ImportError, match="make build"):
        purity.enforce()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with our setup.py and a package of one module."""
    shutil.copy(Path(__file__).parents[1] / "setup.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "one"\nversion = "1"\n[tool.setuptools.packages.find]\nwhere = ["src"]\n'
    )
    package = tmp_path / "src" / "steelyard"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "one.py").write_text("def two():\n    return 2\n")
    (package / "one.pxd").write_text("cpdef int two() except -1\n")
    return tmp_path


def build(project: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run what `make build` runs."""
    words = [sys.executable, "setup.py", "build_ext", "--inplace"]
    env = {**os.environ, purity.VARIABLE: "", **env}
    return subprocess.run(words, cwd=project, env=env, capture_output=True, text=True)


@pytest.mark.needs("compiled")
def test_a_compiler_is_used(project: Path) -> None:
    """With a compiler, an extension module is made beside its source, unless the variable is 1."""
    assert build(project, STEELYARD_PURE="1").returncode == 0
    assert not [*project.rglob("*.so")]
    assert build(project).returncode == 0
    assert [path.parent.name for path in (project / "src").rglob("*.so")] == ["steelyard"]


def test_without_a_compiler_it_stays_pure(project: Path) -> None:
    """A missing compiler is reported, and fails only if the compiled build was demanded."""
    done = build(project, CC="false")
    assert (done.returncode, [*project.rglob("*.so")]) == (0, [])
    assert "steelyard stays pure Python" in done.stderr
    assert build(project, CC="false", STEELYARD_PURE="0").returncode != 0
