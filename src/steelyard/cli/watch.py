"""Shows the progress of a long measurement on standard error."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class RichWatcher:
    """A progress bar on a terminal; elsewhere, only lines that are worth a log."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            refresh_per_second=2,  # drawing takes CPU time from the measurement
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("preparing", total=None)

    def __enter__(self) -> RichWatcher:
        self._progress.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: object, ___: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def begin(self, steps: int, what: str = "rounds to measure") -> None:
        self._progress.update(self._task, total=steps)
        self.say(f"{steps} {what}")

    def tell(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def step(self) -> None:
        self._progress.advance(self._task)
