"""`steelyard check`: is the configuration right, and can this machine run it?"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.markup import escape

from steelyard.cli.common import JsonOption, new_table, output, print_json
from steelyard.cli.options import settings_from
from steelyard.cli.preflight import CONTAINERS, require_command, require_engine, require_runtime
from steelyard.config.exposure import exposure_warnings
from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.errors import Fault, StartError, SteelyardError, StoreError, UsageError
from steelyard.runtime.spawn import check_command
from steelyard.sockets import ListenError, listen
from steelyard.store.base import Store
from steelyard.store.open import open_store

MARKS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "wrong": "[red]wrong[/]"}


class Finding(BaseModel):
    """One thing that was looked at."""

    what: str
    verdict: str  # ok, note, wrong
    detail: str


class Findings(BaseModel):
    """All of them."""

    ok: bool
    findings: list[Finding]


def check(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The command of one worker, after `--`."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check the configuration and the machine without starting anything."""
    settings = settings_from(ctx, application_command=tuple(command) if command else None)
    found = list(findings(settings))
    told = Findings(ok=all(one.verdict != "wrong" for one in found), findings=found)
    if json:
        print_json(told)
    else:
        _show(told)
    raise SystemExit(0 if told.ok else 1)


def findings(settings: Settings) -> Iterator[Finding]:
    """Everything worth knowing before `up`."""
    yield Finding(what="configuration", verdict="ok", detail="every key and value is known")
    yield _runtime(settings)
    yield _image(settings) if settings.runtime.kind in CONTAINERS else _command(settings)
    yield _port("gateway.listen", settings.gateway.listen)
    yield _port("agent.listen", settings.agent.listen)
    yield _folder(settings)
    yield _store(settings)
    yield from _certificates(settings)
    for warning in exposure_warnings(settings):
        yield Finding(what="exposure", verdict="note", detail=warning)


def _runtime(settings: Settings) -> Finding:
    try:
        require_runtime(settings)
        require_engine(settings)
    except SteelyardError as error:
        return Finding(what="runtime", verdict="wrong", detail=f"{error.message}; {error.hint}")
    return Finding(what="runtime", verdict="ok", detail=settings.runtime.kind)


def _image(settings: Settings) -> Finding:
    """Whether it can be had is found out when it is pulled."""
    try:
        require_command(settings)
    except UsageError as error:
        return Finding(what="image", verdict="wrong", detail=f"{error.message}; {error.hint}")
    detail = f"{settings.runtime.image}, port {settings.runtime.port}"
    return Finding(what="image", verdict="ok", detail=detail)


def _command(settings: Settings) -> Finding:
    words = settings.application.command
    if not words:
        return Finding(what="command", verdict="wrong", detail="none; say it after `--`")
    path = settings.application.environment.get("PATH", os.environ.get("PATH"))
    try:
        check_command(words, settings.application.directory, path)  # as a start of a worker would
    except StartError as error:
        return Finding(what="command", verdict="wrong", detail=f"{error.message}; {error.hint}")
    detail = words[0] if "/" in words[0] else str(shutil.which(words[0], path=path))
    if not any("{port}" in word for word in words):
        detail += "; it has no {port}, so it must listen on $PORT"
        return Finding(what="command", verdict="note", detail=detail)
    return Finding(what="command", verdict="ok", detail=detail)


def _port(what: str, address: Address) -> Finding:
    try:
        listen(address, 1, f"[{what}]").close()
    except ListenError as error:
        return Finding(what=what, verdict="wrong", detail=error.message)
    return Finding(what=what, verdict="ok", detail=f"{address} is free")


def _folder(settings: Settings) -> Finding:
    folder = settings.folder
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if os.access(existing, os.W_OK):
        return Finding(what="state", verdict="ok", detail=str(folder))
    return Finding(what="state", verdict="wrong", detail=f"{existing} cannot be written")


def _store(settings: Settings) -> Finding:
    """Only a server is asked: a file would be made by it."""
    url = settings.store.url
    try:
        store = open_store(url, settings.application.name, settings.folder)
        if "://" in url:
            asyncio.run(_knock(store))
    except UsageError as error:
        return Finding(what="store", verdict="wrong", detail=f"{error.message}; {error.hint}")
    except StoreError as error:  # the agent starts without it, from memory
        verdict = "wrong" if error.fault is Fault.USER else "note"
        return Finding(what="store", verdict=verdict, detail=f"{error.message}; {error.hint}")
    return Finding(what="store", verdict="ok", detail=store.url)


async def _knock(store: Store) -> None:
    try:
        await store.open()
    finally:
        await store.close()


def _certificates(settings: Settings) -> Iterator[Finding]:
    if not settings.gateway.tls_cert:
        return
    from steelyard.balancer.identity import CertificateError, concerns, load_identity

    try:
        identity = load_identity(settings.gateway.pairs)
    except CertificateError as error:
        yield Finding(what="certificates", verdict="wrong", detail=f"{error.message}; {error.hint}")
        return
    for file, certificate, _ in identity.shown:
        names = ", ".join(certificate.names) or "no host"
        detail = f"{file} for {names}, until {certificate.ends:%Y-%m-%d}"
        yield Finding(what="certificates", verdict="ok", detail=detail)
    for concern in concerns(identity):
        yield Finding(what="certificates", verdict="note", detail=concern)


def _show(told: Findings) -> None:
    table = new_table("", "what", "detail")
    for one in told.findings:
        table.add_row(MARKS[one.verdict], one.what, escape(one.detail))
    output().print(table)
