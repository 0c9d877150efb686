"""The lease: its table, and its law that there are never two leaders, whatever delays occur."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.lease import SAFE, TABLE, Answer, Lease, Role

SECONDS = 4.0


def heard(*answers: Answer) -> Lease:
    """A lease after these answers, with one claim per second, each answered at once."""
    lease = Lease(SECONDS)
    for at, answer in enumerate(answers):
        lease.hear(answer, float(at), float(at))
    return lease


def test_the_table_knows_every_answer_and_a_term_that_is_over_stays_so():
    """OVER has no transition, and LEADING has only the transitions into it listed here."""
    assert TABLE.keys() == set(itertools.product([Role.STANDBY, Role.LEADING], Answer))
    assert [pair for pair, role in TABLE.items() if role is Role.LEADING] == [
        (Role.STANDBY, Answer.GRANTED),
        (Role.LEADING, Answer.GRANTED),
        (Role.LEADING, Answer.SILENCE),
    ]


@pytest.mark.parametrize("answer", [Answer.REFUSED, Answer.SILENCE])
def test_a_standby_waits(answer: Answer):
    """A standby waits while another agent holds the lease or the store is unreachable."""
    lease = heard(answer, answer)
    assert lease.role is Role.STANDBY
    assert not lease.leads(1.0)
    lease.hear(Answer.GRANTED, 2.0, 2.0)
    assert lease.leads(2.0)


def test_a_leader_stops_before_its_lease_runs_out():
    """A leader stops leading by its own clock, without another answer of the store."""
    lease = heard(Answer.GRANTED)
    assert lease.leads(SAFE * SECONDS - 0.01)
    assert not lease.leads(SAFE * SECONDS)


def test_time_counts_from_before_the_question():
    """A grant that took long to arrive lasts less long, or has already expired."""
    lease = Lease(SECONDS)
    lease.hear(Answer.GRANTED, 10.0, 12.0)
    assert lease.until == 10.0 + SAFE * SECONDS
    late = Lease(SECONDS)
    late.hear(Answer.GRANTED, 10.0, 14.0)
    assert (late.role, late.leads(14.0)) == (Role.STANDBY, False)


def test_a_leader_survives_some_silence_and_no_refusal():
    """Without answers a leader leads until its grant expires; a refusal ends its term at once."""
    assert heard(Answer.GRANTED, Answer.SILENCE, Answer.SILENCE).leads(2.0)
    assert heard(Answer.GRANTED, *[Answer.SILENCE] * 4).role is Role.OVER
    assert heard(Answer.GRANTED, Answer.REFUSED).role is Role.OVER


def test_a_grant_after_a_gap_does_not_mend_it():
    """A grant after the old one has expired ends the term, as others may have led in between."""
    lease = heard(Answer.GRANTED)
    lease.hear(Answer.GRANTED, 10.0, 10.0)
    assert (lease.role, lease.leads(10.0)) == (Role.OVER, False)


@dataclass
class Agents:
    """Some agents and a store; all of them read one clock."""

    count: int
    now: float = 0.0
    holder: tuple[int, int] | None = None  # agent and term
    expires: float = 0.0
    leases: list[Lease] = field(default_factory=list)
    terms: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.leases = [Lease(SECONDS) for _ in range(self.count)]
        self.terms = [0] * self.count

    def claim(self, agent: int, sent: float, back: float, lost: bool) -> None:
        """Send a claim that takes time in both directions, and whose answer may get lost."""
        asked = self.now
        self.wait(sent)
        answer = self._decide((agent, self.terms[agent]))
        self.wait(back)
        self.leases[agent].hear(Answer.SILENCE if lost else answer, asked, self.now)
        if self.leases[agent].role is Role.OVER:
            self.leases[agent] = Lease(SECONDS)
            self.terms[agent] += 1

    def wait(self, seconds: float) -> None:
        self.now += seconds
        leading = [agent for agent, lease in enumerate(self.leases) if lease.leads(self.now)]
        assert len(leading) <= 1, "two lead"
        for agent in leading:
            assert self.holder == (agent, self.terms[agent]), "leads without the lease"
            assert self.now < self.expires, "leads under a lease that has run out"

    def _decide(self, asks: tuple[int, int]) -> Answer:
        if self.holder not in (None, asks) and self.now < self.expires:
            return Answer.REFUSED
        self.holder, self.expires = asks, self.now + SECONDS
        return Answer.GRANTED


DELAY = st.sampled_from([0.0, 0.1, 1.0, 3.0, 5.0])  # of the network, or of a paused process
CLAIMS = st.tuples(st.integers(0, 2), DELAY, DELAY, st.booleans(), DELAY)


@given(st.lists(CLAIMS, max_size=60))
def test_never_two_leaders(claims):
    """No two agents lead at once, with claims in any order, any delays, lost answers and pauses."""
    agents = Agents(3)
    for agent, sent, back, lost, pause in claims:
        agents.claim(agent, sent, back, lost)
        agents.wait(pause)


@given(st.lists(CLAIMS, max_size=20), st.integers(0, 2))
def test_who_is_left_alone_leads_soon(claims, survivor):
    """The last agent leads within one lease and a few claims after the others ended."""
    agents = Agents(3)
    for agent, sent, back, lost, pause in claims:
        agents.claim(agent, sent, back, lost)
        agents.wait(pause)
    began = agents.now
    while not agents.leases[survivor].leads(agents.now):
        agents.claim(survivor, 0.01, 0.01, False)
        agents.wait(agents.leases[survivor].pace)
    assert agents.now - began <= SECONDS + 3 * agents.leases[survivor].pace
