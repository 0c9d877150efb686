"""`steelyard mesh run`: a job from a file of JSON lines to another."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from steelyard.cli.common import Messages
from steelyard.cli.mesh_common import (
    CertsOption,
    InsecureOption,
    JoinOption,
    LeaseOption,
    ListenOption,
    MemberOption,
    MeshOption,
    MulticastOption,
    Where,
    load,
)
from steelyard.cli.mesh_rules import rules_for
from steelyard.cli.watch import RichWatcher
from steelyard.errors import UsageError
from steelyard.logs import set_up_logging

if TYPE_CHECKING:
    from steelyard.mesh import Answer, Job

RULE = "as its @mesh.unit says"


def mesh_run(
    function: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="What to run.")],
    units: Annotated[Path, typer.Argument(help="A JSON value in each line, - for standard input.")],
    join: JoinOption = None,
    listen: ListenOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="By default standard output.")
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="A line is a list of arguments, not one argument.")
    ] = False,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", metavar="FILE", help="Keeps results; given again, goes on."),
    ] = None,
    retries: Annotated[
        int | None, typer.Option(min=0, help="After crashes and hangs.", show_default=RULE)
    ] = None,
    hedge: Annotated[
        bool | None,
        typer.Option("--hedge/--no-hedge", help="Try slow ones twice.", show_default=RULE),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(min=0.001, help="Seconds that one run may take.", show_default=RULE),
    ] = None,
    memory: Annotated[
        int | None, typer.Option(min=1, help="Bytes that one run may add.", show_default=RULE)
    ] = None,
    weight: Annotated[float, typer.Option(help="The share of the nodes, beside others.")] = 1.0,
    mesh: MeshOption = "default",
    certs: CertsOption = None,
    insecure: InsecureOption = False,
    multicast: MulticastOption = False,
    member: MemberOption = None,
    lease: LeaseOption = 1.5,
) -> None:
    """Run a unit for each line; results come as JSON lines, in the order in which they are done.

    Exit status 1 when a unit has failed.
    """
    calls = list(_calls(units, spread))
    place = Where(join, listen, mesh, certs, insecure, multicast, member, lease).place()
    set_up_logging("mesh", "warning")
    said = {"retries": retries, "hedge": hedge, "deadline": deadline, "memory": memory}
    rules, note = rules_for(function, **said)
    if note:
        Messages().print(f"note: {note}", markup=False, soft_wrap=True)
    with load("client").Client(place=place, weight=weight, journal=journal) as client:
        job: Job = client.starmap(function, calls, keys=range(1, len(calls) + 1), rules=rules)
        with _writer(out) as file:
            _write(job, len(calls), file)
    Messages().print(str(job.progress), markup=False)
    if job.failed:
        raise typer.Exit(1)


def _calls(units: Path, spread: bool) -> Iterator[list[Any]]:
    try:
        text = sys.stdin.read() if str(units) == "-" else units.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{units}: {error.strerror}", hint="name a file of JSON lines") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield _call(units, number, line, spread)


def _call(units: Path, number: int, line: str, spread: bool) -> list[Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{units}, line {number}: {error}", hint="a JSON value per line") from None
    if not spread:
        return [value]
    if not isinstance(value, list):
        raise UsageError(f"{units}, line {number} is no list", hint="leave --spread out")
    return value


@contextmanager
def _writer(out: Path | None) -> Iterator[TextIO]:
    if out is None:
        yield sys.stdout
        return
    try:
        file = out.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}", hint="name a file") from None
    with file:
        yield file


def _write(job: Job, total: int, file: TextIO) -> None:
    with RichWatcher(Messages()) as watcher:
        watcher.begin(total, "units")
        for answer in job.as_completed():
            file.write(json.dumps(_row(answer), default=_plain, ensure_ascii=False) + "\n")
            watcher.tell(str(job.progress))
            watcher.step()


def _row(answer: Answer) -> dict[str, Any]:
    row: dict[str, Any] = {"unit": answer.key, "ok": answer.ok, "seconds": answer.seconds}
    if answer.ok:
        row["value"] = answer.value
    else:
        row |= {"state": answer.state, "error": str(answer.error)}
    if answer.output:
        row["output"] = answer.output
    return row


def _plain(value: Any) -> Any:
    """What JSON does not know."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
