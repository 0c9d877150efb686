"""The checks of a configuration and the machine before anything is started."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator

from pydantic import BaseModel

from steelyard.cli.preflight import CONTAINERS, require_command, require_engine, require_runtime
from steelyard.config.exposure import exposure_warnings
from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.errors import Fault, StartError, SteelyardError, StoreError, UsageError
from steelyard.purity import explain_build, is_compiled
from steelyard.runtime.spawn import check_command
from steelyard.sockets import ListenError, listen
from steelyard.store.base import Store
from steelyard.store.open import open_store


class Finding(BaseModel):
    """The result of one check."""

    what: str
    verdict: str  # ok, note, wrong
    detail: str


def findings(settings: Settings) -> Iterator[Finding]:
    """Run every check that matters before `up`."""
    yield Finding(what="configuration", verdict="ok", detail="every key and value is known")
    yield _build()
    yield _runtime(settings)
    yield _served(settings)
    yield _port("gateway.listen", settings.gateway.listen)
    yield _port("agent.listen", settings.agent.listen)
    yield _folder(settings)
    yield _store(settings)
    yield from _certificates(settings)
    for warning in exposure_warnings(settings):
        yield Finding(what="exposure", verdict="note", detail=warning)


class UnfitError(SteelyardError):
    """The configuration cannot run on this machine."""

    fault = Fault.MACHINE


def require_fit(settings: Settings) -> list[str]:
    """Raise for every problem that would keep the workers from starting; return the other notes.

    The runtime, the certificates and the ports are not checked here: `up` checks them itself, and
    systemd may have given it its ports.
    """
    found = (_served(settings), _folder(settings), _store(settings))
    wrong = [f"{one.what}: {one.detail}" for one in found if one.verdict == "wrong"]
    if wrong:
        raise UnfitError("; ".join(wrong), hint="`steelyard check` shows every check")
    return [f"{one.what}: {one.detail}" for one in found if one.verdict == "note"]


def _build() -> Finding:
    verdict = "ok" if is_compiled() else "note"
    return Finding(what="build", verdict=verdict, detail=explain_build())


def _served(settings: Settings) -> Finding:
    return _image(settings) if settings.runtime.kind in CONTAINERS else _command(settings)


def _runtime(settings: Settings) -> Finding:
    try:
        require_runtime(settings)
        require_engine(settings)
    except SteelyardError as error:
        return Finding(what="runtime", verdict="wrong", detail=f"{error.message}; {error.hint}")
    return Finding(what="runtime", verdict="ok", detail=settings.runtime.kind)


def _image(settings: Settings) -> Finding:
    """Check that an image is named; whether it exists is known only when it is pulled."""
    try:
        require_command(settings)
    except UsageError as error:
        return Finding(what="image", verdict="wrong", detail=f"{error.message}; {error.hint}")
    detail = f"{settings.runtime.image}, port {settings.runtime.port}"
    return Finding(what="image", verdict="ok", detail=detail)


def _command(settings: Settings) -> Finding:
    words = settings.application.command
    if not words:
        return Finding(what="command", verdict="wrong", detail="no command; write it after `--`")
    path = settings.application.environment.get("PATH", os.environ.get("PATH"))
    try:
        # the same check as before the start of a worker
        check_command(words, settings.application.directory, path)
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
    """Ask a server whether it answers; a file is not opened, as that would create it."""
    url = settings.store.url
    try:
        store = open_store(url, settings.application.name, settings.folder)
        if "://" in url:
            asyncio.run(_knock(store))
    except UsageError as error:
        return Finding(what="store", verdict="wrong", detail=f"{error.message}; {error.hint}")
    except StoreError as error:  # the agent starts without the store, from memory
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
    from steelyard.balancer.downstream.identity import CertificateError, concerns, load_identity

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
