"""Pid file: lists the children of a supervisor for the supervisor that comes after it.

Each gateway has a folder below the state folder: `APPLICATION/gateways/up`, or `gateways/ADDRESS`
for a gateway that has no agent of its own. The folder contains

    lock          locked by the supervisor; the kernel releases the lock when it ends
    pids.json     the children of the supervisor: pid and time of start
    NAME.sock     where a balancer whose supervisor is gone hands over its sockets (handover)
    NAME.log      the messages of a child from the time without a supervisor

An orderly end removes the folder. After the death of a supervisor the folder lists what it left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, TextIO
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from steelyard.config.settings import Settings
from steelyard.config.values import Address, AddressText
from steelyard.errors import UsageError
from steelyard.private_folder import make_private_folder
from steelyard.runtime.procfs import PROC, Process, read_stat

Part = Literal["supervisor", "agent", "balancer"]

GATEWAYS = "gateways"
_FILE = "pids.json"


class Entry(BaseModel):
    """One process."""

    model_config = ConfigDict(frozen=True)

    part: Part
    name: str
    pid: int
    started: int

    @property
    def process(self) -> Process:
        return Process(self.pid, self.started)

    @property
    def alive(self) -> bool:
        stat = read_stat(self.pid)
        return stat is not None and stat.process == self.process and stat.alive


class Pids(BaseModel):
    """The content of the file."""

    model_config = ConfigDict(frozen=True)

    machine: str = ""  # boot and pid name space: a pid is meaningless in another one
    supervisor: Entry | None = None
    generation: int = 0  # number of the newest generation of balancers
    listen: AddressText | None = None
    given: bool = False  # whether systemd opened the listening sockets
    children: tuple[Entry, ...] = ()

    def living(self, part: Part) -> list[Entry]:
        """The children of this kind that have not ended."""
        return [one for one in self.children if one.part == part and one.alive]


class ServedError(UsageError):
    """The gateway has a supervisor that is alive."""

    def __init__(self, pids: Pids) -> None:
        who = f"process {pids.supervisor.pid}" if pids.supervisor else "another process"
        super().__init__(
            f"this application is already served, by {who} on {pids.listen}",
            hint="use another --name or another --state, or stop it with `steelyard down`",
        )
        self.pids = pids


class PidFile:
    """The pid file of one gateway, whose lock this process holds."""

    def __init__(self, folder: Path, lock: TextIO, pids: Pids) -> None:
        self.folder = folder
        self.before = pids  # the content that the supervisor before us left
        self._lock = lock
        living = tuple(one for one in pids.children if one.alive)
        self._pids = pids
        self._write(supervisor=_entry("supervisor", "", os.getpid()), children=living)

    @classmethod
    def open(cls, folder: Path) -> PidFile:
        """Lock the file and read it.

        Raises ServedError while another supervisor is alive, and OSError if the folder cannot be
        used.
        """
        make_private_folder(folder.parent)
        make_private_folder(folder)
        lock = _locked(folder)
        return cls(folder, lock, read_pids(folder))

    def breed(self, generation: int) -> None:
        """Note the number of a new generation, so that no other generation gets it."""
        self._write(generation=generation)

    def serve(self, listen: Address, *, given: bool) -> None:
        """Note the address at which clients are served."""
        self._write(listen=listen, given=given)

    def enter(self, part: Part, name: str, pid: int) -> None:
        """Note a child that was started."""
        if entry := _entry(part, name, pid):
            self._write(children=(*self._pids.children, entry))

    def strike(self, pid: int) -> None:
        """Forget a child that ended."""
        self._write(children=tuple(one for one in self._pids.children if one.pid != pid))

    def close(self) -> None:
        """Remove the folder, because all children have ended and nothing is left to take over."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # the parent may have the folder of another gateway
            self.folder.parent.rmdir()
        self._lock.close()

    def leave(self) -> None:
        """End without having taken over: the children that are left stay listed for the next."""
        if any(one.alive for one in self._pids.children):
            self._lock.close()
        else:
            self.close()

    def _write(self, **changes: object) -> None:
        """Write the whole file or nothing; a full disk is no reason to end running children."""
        self._pids = self._pids.model_copy(update={"machine": machine(), **changes})
        new = self.folder / f"{_FILE}.new"
        with contextlib.suppress(OSError):
            new.write_text(self._pids.model_dump_json())
            new.rename(self.folder / _FILE)


def open_pid_file(settings: Settings, *, agent: bool) -> PidFile | None:
    """The pid file of the gateway that these settings describe; None if there can be none.

    A gateway without an agent of its own, or with an agent that takes turns, is identified by its
    address alone. So it has no pid file on port 0, or if the state folder cannot be used, or if
    another gateway with the same address, which may be in another container, has it. The balancers
    of a gateway without a pid file end with their supervisor.
    """
    if agent and settings.agent.lease == 0:
        return _open(places(settings).up)
    if settings.gateway.listen.port == 0:
        return None
    with contextlib.suppress(OSError, UsageError):
        return PidFile.open(places(settings).turns if agent else places(settings).alone)
    return None


def _open(folder: Path) -> PidFile:
    try:
        make_private_folder(folder.parent.parent)
        return PidFile.open(folder)
    except OSError as error:
        raise UsageError(
            f"the state folder {folder} cannot be used: {error.strerror}",
            hint="choose another with --state",
        ) from error


class Places(NamedTuple):
    """The folders of a gateway, by its kind."""

    up: Path  # with an agent of its own
    turns: Path  # with an agent that takes turns with others
    alone: Path  # without an agent


def places(settings: Settings) -> Places:
    """The folders of the gateway that these settings describe."""
    name = quote(str(settings.gateway.listen), safe="")
    own = settings.folder / GATEWAYS
    return Places(own / "up", own / name, settings.state.expanduser() / GATEWAYS / name)


def read_pids(folder: Path) -> Pids:
    """The content of the file; empty if it is missing, or of another user or machine."""
    try:
        with (folder / _FILE).open("rb") as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid():
                return Pids()
            pids = Pids.model_validate_json(file.read())
    except (OSError, ValidationError):
        return Pids()
    return pids if pids.machine == machine() else Pids()


def machine() -> str:
    """The boot and the pid name space, within which a pid means the same process."""
    boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {os.readlink(PROC / 'self/ns/pid')}"


def _entry(part: Part, name: str, pid: int) -> Entry | None:
    stat = read_stat(pid)
    if stat is None:
        return None
    return Entry(part=part, name=name, pid=pid, started=stat.process.started)


def _locked(folder: Path) -> TextIO:
    """The lock file, locked.

    A lock file that was removed meanwhile locks nothing, so it is opened anew.
    """
    for file in _opened(folder / "lock"):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise ServedError(read_pids(folder)) from None
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(file.fileno()).st_ino == (folder / "lock").stat().st_ino:
                return file
        file.close()
    raise AssertionError("unreachable: the file is opened again and again")


def _opened(path: Path) -> Iterator[TextIO]:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        yield path.open("a")
