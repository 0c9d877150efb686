"""Lists the imports between the modules of a package, and its cycles: `python -m tools.imports`.

It counts `import` statements anywhere in a module (inside functions and under TYPE_CHECKING, too)
and the `cimport` statements of the `.pxd` file beside it. The argument is a package below
`steelyard`; without an argument it is `balancer`. docs/architecture.md has a drawing of the graph,
which is made here.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
CIMPORT = re.compile(r"^\s*from\s+([\w.]+)\s+cimport\b|^\s*cimport\s+([\w.]+)", re.MULTILINE)
Graph = Mapping[str, frozenset[str]]


def main(arguments: Sequence[str]) -> int:
    """Print the counts and cycles of one package; with --json, all imports and cycles."""
    names = [word for word in arguments if not word.startswith("-")]
    graph = import_graph(SOURCE, f"steelyard.{names[0] if names else 'balancer'}")
    cycles = find_cycles(graph)
    if "--json" in arguments:
        edges = {module: sorted(found) for module, found in sorted(graph.items())}
        sys.stdout.write(json.dumps({"imports": edges, "cycles": cycles}, indent=2) + "\n")
        return 0
    sys.stdout.write(f"{_figures(graph)}\n")
    for cycle in cycles:
        sys.stdout.write(f"  {len(cycle)} modules: {', '.join(cycle)}\n")
    return 0


def import_graph(source: Path, package: str) -> Graph:
    """Each module of the package with the modules of the package that it imports."""
    files = {
        _name(source, file): file for file in (source / package.replace(".", "/")).rglob("*.py")
    }
    return {
        module: frozenset(
            found for found in (_known(name, files) for name in _imported(file)) if found
        )
        - {module}
        for module, file in files.items()
    }


def find_cycles(graph: Graph) -> list[list[str]]:
    """The sets of modules that can all reach each other, the largest first (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    cycles: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        path.append(module)
        for other in sorted(graph[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in path:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            at = path.index(module)
            cycle, path[at:] = path[at:], []
            if len(cycle) > 1:
                cycles.append(sorted(cycle))

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return sorted(cycles, key=lambda cycle: (-len(cycle), cycle))


def room_imports(graph: Graph, package: str) -> dict[tuple[str, str], int]:
    """How many imports lead from one room of the package to another.

    A room is a package or a module right inside the package.
    """
    rooms = {module: module.removeprefix(f"{package}.").split(".")[0] for module in graph}
    found: dict[tuple[str, str], int] = {}
    for module in sorted(graph):
        for other in sorted(graph[module]):
            pair = rooms[module], rooms[other]
            if pair[0] != pair[1]:
                found[pair] = found.get(pair, 0) + 1
    return found


def draw_rooms(graph: Graph, package: str) -> str:
    """A diagram of the rooms, with the number of imports on each arrow."""
    edges = sorted(room_imports(graph, package).items())
    arrows = [f"    {one} -->|{count}| {other}" for (one, other), count in edges]
    figures = f"{_figures(graph)} (`python -m tools.imports`)."
    return "\n".join(["```mermaid", "flowchart TD", *arrows, "```", "", figures])


def _figures(graph: Graph) -> str:
    imports, cycles = sum(map(len, graph.values())), len(find_cycles(graph))
    return f"{len(graph)} modules, {imports} imports, {cycles} cycles"


def _name(source: Path, file: Path) -> str:
    parts = file.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    declared = file.with_suffix(".pxd")
    if declared.exists():
        for match in CIMPORT.finditer(declared.read_text(encoding="utf-8")):
            yield match[1] or match[2]


def _known(name: str, files: Mapping[str, Path]) -> str | None:
    """The module of a name: the name itself, or its parent if it is a class or function."""
    parent = name.rpartition(".")[0]
    return name if name in files else parent if parent in files else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
