"""`steelyard mesh run`: a job from one file of JSON lines to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

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
    check_names,
    load,
)
from steelyard.cli.mesh_lines import line_of, read_calls, row_of
from steelyard.cli.mesh_rules import rules_for
from steelyard.cli.watch import RichWatcher
from steelyard.errors import Fault, SteelyardError, UsageError
from steelyard.logs import set_up_logging

if TYPE_CHECKING:
    from steelyard.mesh import Job


RULE = "as its @mesh.unit sets it"


class OutputError(SteelyardError):
    """Results cannot be written."""

    fault = Fault.MACHINE


def mesh_run(
    function: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="The function to run.")
    ],
    units: Annotated[
        Path, typer.Argument(help="File with a JSON value per line; - is standard input.")
    ],
    join: JoinOption = None,
    listen: ListenOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File for results; by default standard output."),
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="Each line is a list of arguments, not one argument.")
    ] = False,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal", metavar="FILE", help="Keeps results; a later run with it goes on."
        ),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(min=0, help="Retries of a unit after crashes and hangs.", show_default=RULE),
    ] = None,
    hedge: Annotated[
        bool | None,
        typer.Option("--hedge/--no-hedge", help="Run slow units twice.", show_default=RULE),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(min=0.001, help="Seconds that one run may take.", show_default=RULE),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=1, help="Bytes of memory that one run may add.", show_default=RULE),
    ] = None,
    weight: Annotated[
        float, typer.Option(help="Share of the nodes, relative to other clients.")
    ] = 1.0,
    mesh: MeshOption = "default",
    certs: CertsOption = None,
    insecure: InsecureOption = False,
    multicast: MulticastOption = False,
    member: MemberOption = None,
    lease: LeaseOption = 1.5,
) -> None:
    """Run a unit for each line; results come as JSON lines, in the order in which units end.

    The exit status is 1 if a unit failed.
    """
    where = Where(join, listen, mesh, certs, insecure, multicast, member, lease)
    where.check_way()
    check_names(function)
    load("execution.functions").split(function)
    if out is not None and _is_same(out, units):
        raise UsageError(f"--out {out} is the file of the units", hint="name another file")
    calls = list(read_calls(units, spread))
    place = where.place()
    set_up_logging("mesh", "warning")
    said = {"retries": retries, "hedge": hedge, "deadline": deadline, "memory": memory}
    rules, note = rules_for(function, **said)
    if note:
        Messages().print(f"note: {note}", markup=False, soft_wrap=True)
    with load("client").Client(place=place, weight=weight, journal=journal) as client:
        job: Job = client.starmap(function, calls, keys=range(1, len(calls) + 1), rules=rules)
        with _writer(out) as file:
            all_well = _write(job, len(calls), file)
    Messages().print(str(job.progress), markup=False)
    if not all_well:
        raise typer.Exit(1)


@contextmanager
def _writer(out: Path | None) -> Iterator[BinaryIO]:
    if out is None:
        yield sys.stdout.buffer
        return
    try:
        file = out.open("wb")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}", hint="name a file") from None
    try:
        with file:
            yield file
    except OSError as error:
        raise OutputError(
            f"--out {out}: {error.strerror}",
            hint="name a file elsewhere; with --journal, finished units are not run again",
        ) from None


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of the files does not exist
        return False


def _write(job: Job, total: int, file: BinaryIO) -> bool:
    """Write the result of each unit; return whether every unit has a value."""
    all_well = True
    with RichWatcher(Messages()) as watcher:
        watcher.begin(total, "units")
        for answer in job.as_completed():
            row = row_of(answer)
            all_well &= row["ok"]
            file.write(line_of(row))
            file.flush()  # a killed process loses what is buffered, and readers wait for it
            watcher.tell(str(job.progress))
            watcher.step()
    return all_well
