"""The sum of the accounts of several balancer processes. It never falls when a process ends.

`_past` keeps the totals of processes that have ended, and those of workers that a process no longer
lists. Without it a sum would fall, and Prometheus takes a counter that falls for a restart. A
worker that no process lists and that no account has named for `KEEP` seconds is dropped, so that
labels do not pile up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from steelyard.core.account import Account, Done, Own, Work

KEEP = 600.0  # seconds; Prometheus takes a series for gone after half of that without a sample


@dataclass(slots=True)
class Accounts:
    """The latest account of each process, and the totals of what has ended."""

    live: dict[int, Account] = field(default_factory=dict)
    started: int = 0  # processes that have sent an account, ever
    _past: dict[str, Done] = field(default_factory=dict)
    _past_own: Own = field(default_factory=Own)
    _named: dict[str, float] = field(default_factory=dict)  # when a worker was last named

    def put(self, process: int, account: Account, now: float) -> None:
        """Take in the newest account of a process."""
        before = self.live.get(process)
        if before is None:
            self.started += 1
        else:
            present = {(work.name, work.place) for work in account.workers}
            self._close(work for work in before.workers if (work.name, work.place) not in present)
        self.live[process] = account
        for work in account.workers:
            self._named[work.name] = now
        listed = {work.name for work in self.works()}  # by a process that is silent, too
        for name in [name for name, last in self._named.items() if now - last > KEEP]:
            if name in listed:
                continue
            del self._named[name]
            self._past.pop(name, None)

    def gone(self, process: int) -> None:
        """Keep the totals of a process that has ended, if it ever sent an account."""
        account = self.live.pop(process, None)
        if account is not None:
            self._close(account.workers)
            self._past_own += account.own

    def own(self) -> Own:
        return sum((account.own for account in self.live.values()), start=self._past_own)

    def done(self) -> dict[str, Done]:
        """The totals of each worker over all processes, sorted by the name of the worker."""
        sums = {name: self._past.get(name, Done()) for name in sorted(self._named)}
        for work in self.works():
            sums[work.name] += work.done
        return sums

    def works(self) -> list[Work]:
        """The workers in the latest accounts of all processes that run."""
        return [work for account in self.live.values() for work in account.workers]

    def _close(self, works: Iterable[Work]) -> None:
        for work in works:
            self._past[work.name] = self._past.get(work.name, Done()) + work.done
