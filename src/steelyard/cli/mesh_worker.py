"""`steelyard mesh worker`: a node that pulls units and runs them."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

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
from steelyard.cli.mesh_rules import explain
from steelyard.errors import Fault, SteelyardError
from steelyard.logs import set_up_logging

if TYPE_CHECKING:
    from steelyard.mesh.codec import Card
    from steelyard.mesh.transport.zenoh.link import ZenohLink

PROCS = len(os.sched_getaffinity(0))


class NoChildrenError(SteelyardError):
    """This machine has no room for the child processes."""

    fault = Fault.MACHINE


def mesh_worker(
    functions: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE[:FUNCTION]…", help="Modules or functions that this node serves."
        ),
    ],
    join: JoinOption = None,
    listen: ListenOption = None,
    procs: Annotated[int, typer.Option(min=1, help="Units that run at the same time.")] = PROCS,
    name: Annotated[str, typer.Option(help="Name of the node; by default host and process.")] = "",
    drain: Annotated[
        float, typer.Option(min=0, help="Seconds that running units get when the node stops.")
    ] = 30.0,
    mesh: MeshOption = "default",
    certs: CertsOption = None,
    insecure: InsecureOption = False,
    multicast: MulticastOption = False,
    member: MemberOption = None,
    lease: LeaseOption = 1.5,
) -> None:
    """Run units of these functions for any client of the mesh."""
    place = Where(join, listen, mesh, certs, insecure, multicast, member, lease).place()
    set_up_logging("mesh", "info")
    served = _served(functions)
    name = name or f"{socket.gethostname()}:{os.getpid()}"
    card = load("codec").Card(name, procs=procs, functions=served)
    with load("transport.zenoh.complaints").listening():
        _serve(load("join").open_link(place), card, drain)


def _served(functions: list[str]) -> tuple[str, ...]:
    check_names(*functions)
    served = load("served")
    try:
        names: tuple[str, ...] = served.served(functions)
    except served.NotServedError as error:
        raise explain(functions, error) from None
    return names


def _serve(link: ZenohLink, card: Card, drain: float) -> None:
    modules = sorted({one.partition(":")[0] for one in card.functions})
    pool = load("execution.pool").Pool
    here = [os.getcwd()]  # the user's modules are here; the node itself imports none of them
    try:
        node = load("node").Node(
            link, card, lambda n, told: pool(n, told, preload=modules, path=here)
        )
    except OSError as error:
        raise NoChildrenError(
            f"{card.procs} child processes cannot be started: {error.strerror}",
            hint="ask for fewer (--procs), or raise the limits (ulimit -n, ulimit -u)",
        ) from None
    console = Messages()
    node.start()  # a signal during the start ends us at once, as we have no units yet
    stop = _Stop()
    what, there = " ".join(card.functions), " ".join(link.locators)
    typer.echo(f"node {card.name}: {card.procs} children for {what}, listening on {there}")
    stop.asked.wait()
    console.print(f"stopping: running units get {drain:g} s", markup=False)
    if not stop.wait_for(lambda: node.leave(drain)):
        console.print("units that were still running are left to other nodes", markup=False)
    node.close()


class _Stop:
    """The first signal asks for an orderly end, the second for an end at once."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._over = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._signalled)

    def _signalled(self, *_: object) -> None:
        (self._over if self.asked.is_set() else self.asked).set()

    def wait_for(self, leave: Callable[[], bool]) -> bool:
        """Whether the node left in order, before a second signal."""
        left: list[bool] = []

        def run() -> None:
            left.append(leave())
            self._over.set()

        threading.Thread(target=run, daemon=True).start()
        self._over.wait()
        return bool(left and left[0])
