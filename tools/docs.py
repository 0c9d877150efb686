"""Writes the generated documents; with --check, only names the stale ones.

A generated part is a whole file, or the region of a file between `<!-- generated: NAME -->` and
`<!-- end -->`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.config.document import document
from steelyard.core.lifecycle import TABLE
from steelyard.mesh.protocol import lifecycle, standing
from tools.automaton import draw
from tools.imports import SOURCE, draw_rooms, import_graph

ROOT = Path(__file__).parent.parent


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Write the documents, or check them; return 1 if a checked document is stale."""
    stale = [(file, text) for file, text in generated(root) if read(file) != text]
    if "--check" in arguments:
        for file, _ in stale:
            sys.stderr.write(f"{file.relative_to(root)} is stale: run `make docs`\n")
        return 1 if stale else 0
    for file, text in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {file.relative_to(root)}\n")
    return 0


def generated(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield each generated document with the text that it should have."""
    yield root / "docs/configuration.md", document()
    architecture = root / "docs/architecture.md"
    text = read(architecture) or "# Architecture\n\n## The life of a worker\n"
    text = with_region(text, "automaton", draw(TABLE))
    graph = import_graph(SOURCE, "steelyard.balancer")
    yield architecture, with_region(text, "rooms", draw_rooms(graph, "steelyard.balancer"))
    decisions = root / "docs/decisions/README.md"
    text = read(decisions) or "# Decisions\n"
    yield decisions, with_region(text, "index", index(decisions.parent))
    mesh = root / "docs/mesh.md"
    text = with_region(read(mesh) or "# Mesh\n", "unit", draw(lifecycle.TABLE))
    yield mesh, with_region(text, "standing", draw(standing.TABLE))


def index(folder: Path) -> str:
    """One line for each decision, with its number and title."""
    files = sorted(folder.glob("[0-9]*.md"))
    titles = [read(file).partition("\n")[0].removeprefix("# ") for file in files]
    return "\n".join(f"* [{title}]({file.name})" for title, file in zip(titles, files, strict=True))


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def with_region(text: str, name: str, content: str) -> str:
    """The text with new content between the marks; without marks, they are added at its end."""
    mark, end = f"<!-- generated: {name} -->", "<!-- end -->"
    before, found, rest = text.partition(f"{mark}\n")
    _, _, after = rest.partition(end)
    region = f"{mark}\n{content}\n{end}"
    return f"{before}{region}{after}" if found else f"{text}\n{region}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
