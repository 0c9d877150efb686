"""The import graph: which imports count, and which modules form a cycle."""

from __future__ import annotations

from pathlib import Path

from tools.imports import find_cycles, import_graph


def write(folder: Path, **modules: str) -> None:
    package = folder / "p"
    package.mkdir()
    for name, text in {"__init__": "", **modules}.items():
        (package / f"{name}.py").write_text(text)


def test_every_kind_of_import_counts(tmp_path: Path) -> None:
    """Imports inside functions, under TYPE_CHECKING and in a .pxd file count; others do not."""
    write(
        tmp_path,
        a="import os\nfrom p.b import thing\nif TYPE_CHECKING:\n    from p import c\n",
        b="def late():\n    import p.c\n",
        c="",
    )
    (tmp_path / "p" / "c.pxd").write_text("cimport cython\nfrom p.a cimport Thing\n")
    graph = import_graph(tmp_path, "p")
    assert graph["p.a"] == {"p.b", "p.c"}
    assert graph["p.b"] == {"p.c"}
    assert graph["p.c"] == {"p.a"}


def test_cycles() -> None:
    """Modules that reach each other form a cycle; a module that only imports them does not."""
    graph = {
        "a": frozenset("b"),
        "b": frozenset("c"),
        "c": frozenset("a"),
        "d": frozenset("ae"),
        "e": frozenset("f"),
        "f": frozenset("e"),
        "g": frozenset("d"),
    }
    assert find_cycles(graph) == [["a", "b", "c"], ["e", "f"]]


def test_no_cycle() -> None:
    """A diamond is not a cycle."""
    graph = {"a": frozenset("bc"), "b": frozenset("d"), "c": frozenset("d"), "d": frozenset()}
    assert find_cycles(graph) == []
