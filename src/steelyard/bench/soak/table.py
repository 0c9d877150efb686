"""A soak as cells, and as a section of docs/benchmarks.md."""

from __future__ import annotations

from steelyard.bench.cells import number, percent
from steelyard.bench.soak.report import SoakReport
from steelyard.markdown import markdown_table

NAME = "soak"
COLUMNS = ("", "figure", "")
GOAL = 10_000  # requests per second, while workers come and go
NEARLY = 0.99  # a client that keeps a rate keeps it only on average


def rows(told: SoakReport) -> list[list[str]]:
    """A row for each figure."""
    failed = told.failures.model_dump()
    kinds = ", ".join(f"{count} {kind}" for kind, count in told.happened.items()) or "none"
    late = sum(one.settled is None for one in told.events)
    slowest_event = max((one.settled or 0.0 for one in told.events), default=None)
    return [
        ["requests", number(told.requests, 0), f"in {told.seconds:.1f} s, all of them GET"],
        ["requests/s", number(told.rate, 0), _wanted(told)],
        ["requests/s in the slowest 5 s", number(told.slowest, 0), _held(told)],
        ["p50 ms", number(told.p50_us, 2, 1e-3), ""],
        ["p99 ms", number(told.p99_us, 2, 1e-3), ""],
        ["failed", number(told.failures.total, 0), _named(failed)],
        ["events", str(len(told.events)), kinds],
        ["longest until whole again, s", number(slowest_event, 1), f"{late} NOT" if late else ""],
        ["taken by others", percent(told.foreign), "of the cores"],
        ["bugs of ours", str(len(told.mishaps)), " / ".join(told.mishaps[:2])],
    ]


def page(told: SoakReport) -> str:
    """The section as Markdown."""
    text = f"""## Soak

{told.date}, {told.machine}, {told.build}. Command: `{told.command}`.

`steelyard up` with {told.workers} workers (nginx) and its default of balancer processes; wrk with \
{told.connections} connections, all on the same cores. Meanwhile workers are added (`steelyard \
scale`), drained (`steelyard drain`), killed (SIGKILL) and removed again, one after the other."""
    return f"{text}\n\n{markdown_table(COLUMNS, rows(told))}"


def _wanted(told: SoakReport) -> str:
    return f"{told.wanted:,} were wanted" if told.wanted else "as many as the client could send"


def _held(told: SoakReport) -> str:
    if told.slowest is None:
        return ""
    return f"{GOAL:,} were {'' if told.slowest >= GOAL * NEARLY else 'NOT '}held all the time"


def _named(failed: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in failed.items() if count)
