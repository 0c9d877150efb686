"""Turns the application's settings into a process: command, environment, control groups, log."""

from __future__ import annotations

import os
from typing import BinaryIO

from steelyard.config import settings
from steelyard.errors import StartError
from steelyard.runtime import cgroup
from steelyard.runtime.limits import Limits
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.marks import Mark, worker_environment
from steelyard.runtime.procfs import Process, read_stat
from steelyard.runtime.seal import Seal
from steelyard.runtime.spawn import check_command, fill_port, spawn


class Launcher:
    """Starts workers of one application."""

    def __init__(
        self, application: settings.Application, home: str, limits: Limits, logs: LogFiles
    ) -> None:
        self._application = application
        self._home = home
        self._limits = limits
        self._logs = logs

    def launch(self, name: str, port: int, seal: Seal) -> tuple[Mark, Process]:
        """Start one worker; if that raises StartError, nothing of the worker is left."""
        command = fill_port(self._application.command, port)
        path = self._application.environment.get("PATH", os.environ.get("PATH"))
        check_command(command, self._application.directory, path)
        with self._open_log(name) as log:
            mark = seal.sign(self._mark(name, port))
            try:
                return mark, self._run(command, mark, log)
            except StartError:
                for group in mark.groups:
                    cgroup.remove_group(group)
                raise

    def _open_log(self, name: str) -> BinaryIO:
        try:
            return self._logs.append(name)
        except OSError as error:
            raise StartError(f"no log for worker {name}: {error}") from error

    def _mark(self, name: str, port: int) -> Mark:
        try:
            groups = self._limits.make(name)
        except OSError as error:
            raise StartError(f"no control group for worker {name}: {error}") from error
        return Mark(self._home, self._application.name, name, port, self._limits.allowance, groups)

    def _run(self, command: tuple[str, ...], mark: Mark, log: BinaryIO) -> Process:
        environment = worker_environment(os.environ, self._application.environment, mark)
        joined = cgroup.joining(mark.groups, command)
        pid = spawn(joined, self._application.directory, environment, log)
        stat = read_stat(pid)
        # the child is reaped at once only if the agent inherited an ignored SIGCHLD
        if stat is None:
            raise StartError(f"{command[0]} ended at once")
        return stat.process
