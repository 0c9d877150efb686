"""The import graph: which imports count, and which modules form a cycle."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from tools.imports import SOURCE, draw_rooms, find_cycles, import_graph, room_imports

BALANCER = "steelyard.balancer"
ROOMS = ("control", "downstream", "exchange", "http", "io", "pool")


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


def test_imports_between_rooms_are_counted(tmp_path: Path) -> None:
    """A room is a package or a module right inside the package; imports within it do not count."""
    graph = {
        "p": frozenset[str](),
        "p.top": frozenset({"p.a.x", "p.a.y", "p.b.z"}),
        "p.a.x": frozenset({"p.a.y", "p.b.z"}),
        "p.a.y": frozenset[str](),
        "p.b.z": frozenset[str](),
    }
    assert room_imports(graph, "p") == {("a", "b"): 1, ("top", "a"): 2, ("top", "b"): 1}
    assert "    top -->|2| a" in draw_rooms(graph, "p").splitlines()
    assert "5 modules, 5 imports, 0 cycles" in draw_rooms(graph, "p")


def test_the_balancer_has_no_cycle() -> None:
    """Imports of types and the cimports of `.pxd` files included."""
    assert find_cycles(import_graph(SOURCE, BALANCER)) == []


def test_rooms_of_the_balancer_know_only_rooms_below_them() -> None:
    """As `lint-imports` has it, which does not see the cimports of `.pxd` files."""
    settings = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    [layers] = [one["layers"] for one in contracts if one.get("containers") == [BALANCER]]
    height = {room: -number for number, layer in enumerate(layers) for room in layer.split(" | ")}
    found = room_imports(import_graph(SOURCE, BALANCER), BALANCER)
    assert found
    assert [pair for pair in found if height[pair[0]] <= height[pair[1]]] == []


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_the_map_of_a_room_is_complete(room: str) -> None:
    """The docstring of each package of the balancer names all that is in it."""
    folder = SOURCE / BALANCER.replace(".", "/") / room
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    words = set(text.replace(":", " ").replace(",", " ").split())
    inside = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    inside |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert inside <= words
    if not room:
        assert set(ROOMS) <= inside
