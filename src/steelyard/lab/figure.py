"""Figures, drawn without a display; matplotlib is imported only when a figure is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.lab.report import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png")
SIZE = (6.0, 4.0)  # inches of one panel
# One colour per policy in all figures, from Okabe and Ito's palette, which colour-blind people can
# tell apart.
COLOURS = {
    "weighted_random": "#999999",
    "weighted_ring": "#0072B2",
    "ring_of_two": "#009E73",
    "round_robin": "#56B4E9",
    "least_in_flight": "#D55E00",
    "power_of_two": "#E69F00",
    "shortest_wait": "#CC79A7",
}

Draw = Callable[["list[Axes]"], None]


def save(draw: Draw, panels: int, folder: Path, name: str) -> list[Path]:
    """Draw the panels side by side and save them in each format; the same data gives the
    same file.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "steelyard", "font.size": 10, "axes.grid": True,
                         "grid.alpha": 0.3, "legend.frameon": False}):  # fmt: skip
        figure = Figure(figsize=(SIZE[0] * panels, SIZE[1]), layout="constrained")
        draw([figure.add_subplot(1, panels, 1 + panel) for panel in range(panels)])
        files = [folder / f"{name}.{ending}" for ending in FORMATS]
        for file in files:
            stamp = {"Date": None} if file.suffix == ".svg" else {}
            figure.savefig(file, metadata=stamp, dpi=110)
    return files


def numbers(cells: list[Cell]) -> list[float]:
    """A column as numbers; a missing one leaves a gap in the plotted line."""
    return [float("nan") if value is None else float(value) for value in cells]
