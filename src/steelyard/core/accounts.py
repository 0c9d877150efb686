"""Accounts of several processes → one that only grows, whoever comes and goes.

What a process did that is gone, or forgot of a worker that it has done with, is kept in `past`: a
sum must not fall by it, which who scrapes it would take for a restart. A worker that nobody has
named for long is dropped, so that labels do not pile up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from steelyard.core.account import Account, Done, Own, Work

KEEP = 600.0  # seconds; twice as long as Prometheus takes a series that it does not see for alive


@dataclass(slots=True)
class Accounts:
    """The latest of each process, and what is over."""

    live: dict[int, Account] = field(default_factory=dict)
    started: int = 0  # processes, ever
    _past: dict[str, Done] = field(default_factory=dict)
    _past_own: Own = field(default_factory=Own)
    _named: dict[str, float] = field(default_factory=dict)  # when a worker was last named

    def put(self, process: int, account: Account, now: float) -> None:
        """A process tells how it stands."""
        before = self.live.get(process)
        if before is None:
            self.started += 1
        else:
            present = {(work.name, work.place) for work in account.workers}
            self._close(work for work in before.workers if (work.name, work.place) not in present)
        self.live[process] = account
        for work in account.workers:
            self._named[work.name] = now
        for name in [name for name, last in self._named.items() if now - last > KEEP]:
            del self._named[name]
            self._past.pop(name, None)

    def gone(self, process: int) -> None:
        """It has ended; if it never told anything, there is nothing to keep."""
        account = self.live.pop(process, None)
        if account is not None:
            self._close(account.workers)
            self._past_own += account.own

    def own(self) -> Own:
        return sum((account.own for account in self.live.values()), start=self._past_own)

    def done(self) -> dict[str, Done]:
        """By worker, in the order of names."""
        sums = {name: self._past.get(name, Done()) for name in sorted(self._named)}
        for work in self.works():
            sums[work.name] += work.done
        return sums

    def works(self) -> list[Work]:
        """What is going on, by all processes."""
        return [work for account in self.live.values() for work in account.workers]

    def _close(self, works: Iterable[Work]) -> None:
        for work in works:
            self._past[work.name] = self._past.get(work.name, Done()) + work.done
