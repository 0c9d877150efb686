"""The layout in Redis: the one place that knows a key.

steelyard:1:{APPLICATION}:workers   hash: MD5 of `application:name` (record_key) → record as JSON
steelyard:1:{APPLICATION}:limits    string: limits set at run time, as JSON
steelyard:1:{APPLICATION}:lease     string: which agent leads; Redis deletes it when it runs out

Every key is known by name, so nothing ever walks the keyspace (KEYS, SCAN), which other programs
may share. The braces are Redis' hash tag: a cluster keeps the keys of an application in one slot,
which scripts require. The number is the layout's version: a Steelyard with another layout reads and
writes other keys, and does not misread these.
"""

from __future__ import annotations

from dataclasses import dataclass

LAYOUT = 1


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one application."""

    application: str

    @property
    def workers(self) -> str:
        return self._key("workers")

    @property
    def lease(self) -> str:
        return self._key("lease")

    @property
    def limits(self) -> str:
        return self._key("limits")

    def _key(self, what: str) -> str:
        return f"steelyard:{LAYOUT}:{{{self.application}}}:{what}"
