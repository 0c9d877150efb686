"""The lease: which of several agents leads, as a table.

An agent claims the lease from the store again and again, for `seconds` each time. It may act from
the moment a claim is granted until a little before that grant expires at the store. It measures
this time by its own clock, from before it sent the claim. So neither a slow network nor a long
pause of the process makes it act under a lease that another agent may hold by then. A term that is
over does not come back: the agent starts anew as a standby.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf

# The share of a grant that is used. The clocks of two machines do not run equally fast, and an
# action that begins at the last moment takes a while.
SAFE = 0.8
# An agent sends a claim four times within each grant, so two claims in a row may get lost before a
# leader has to stop.
CLAIMS = 4


class Role(StrEnum):
    STANDBY = "standby"
    LEADING = "leading"
    OVER = "over"


class Answer(StrEnum):
    GRANTED = "granted"
    REFUSED = "refused"  # another agent holds the lease
    SILENCE = "silence"  # the store cannot be reached
    LATE = "late"  # by our own clock the grant has expired


TABLE: dict[tuple[Role, Answer], Role] = {
    (Role.STANDBY, Answer.GRANTED): Role.LEADING,
    (Role.STANDBY, Answer.REFUSED): Role.STANDBY,
    (Role.STANDBY, Answer.SILENCE): Role.STANDBY,
    (Role.STANDBY, Answer.LATE): Role.STANDBY,
    (Role.LEADING, Answer.GRANTED): Role.LEADING,
    (Role.LEADING, Answer.REFUSED): Role.OVER,
    (Role.LEADING, Answer.SILENCE): Role.LEADING,
    (Role.LEADING, Answer.LATE): Role.OVER,
}


@dataclass(slots=True)
class Lease:
    """One agent's way from standby to leader to the end of its term."""

    seconds: float
    role: Role = Role.STANDBY
    until: float = -inf  # when a leader must have stopped

    @property
    def pace(self) -> float:
        """Seconds between two claims."""
        return self.seconds / CLAIMS

    def leads(self, now: float) -> bool:
        """Whether this agent may act as the leader now."""
        return self.role is Role.LEADING and now < self.until

    def hear(self, answer: Answer, asked: float, now: float) -> None:
        """Take in the answer to a claim that was sent at `asked`."""
        until = asked + SAFE * self.seconds
        if now >= (self.until if self.role is Role.LEADING else until):
            answer = Answer.LATE  # even if it was granted: others may have led meanwhile
        self.role = TABLE[self.role, answer]
        if answer is Answer.GRANTED:
            self.until = until
