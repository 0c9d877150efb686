"""The sum of the accounts of several processes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.account import CLASSES, Account, Done, Own, Work
from steelyard.core.accounts import KEEP, Accounts
from steelyard.core.report import BOUNDS


def account(*workers: Work, retries: int = 0, **answers: int) -> Account:
    statuses = {int(name[1:]): many for name, many in answers.items()}
    own = Own(answers=statuses, retries=retries, unshaken=retries)
    return Account(workers=workers, own=own)


def work(name: str, answers: int, place: str = "10.0.0.1:80", inflight: int = 0) -> Work:
    statuses = [0] * CLASSES
    statuses[2] = answers
    histogram = [0] * (len(BOUNDS) + 1)
    histogram[3] = answers
    done = Done(statuses=tuple(statuses), histogram=tuple(histogram), sent=10 * answers)
    return Work(name=name, place=place, inflight=inflight, done=done)


def answers(accounts: Accounts) -> dict[str, int]:
    return {name: sum(done.statuses) for name, done in accounts.done().items()}


def test_processes_are_summed_up() -> None:
    """The totals of each worker are added up, and those of the processes themselves."""
    accounts = Accounts()
    accounts.put(1, account(work("a", 3, inflight=1), work("b", 1), retries=1, s503=2), 0.0)
    accounts.put(2, account(work("a", 4, inflight=2), retries=2, s400=1, s503=1), 0.0)
    assert answers(accounts) == {"a": 7, "b": 1}
    assert accounts.done()["a"].sent == 70
    assert sum(accounts.done()["a"].histogram) == 7
    assert sum(one.inflight for one in accounts.works()) == 3
    assert accounts.own() == Own(answers={400: 1, 503: 3}, retries=3, unshaken=3)


def test_the_latest_counts_not_their_sum() -> None:
    """Each account holds totals, so it replaces the account before."""
    accounts = Accounts()
    for many in (1, 2, 5):
        accounts.put(1, account(work("a", many), s503=many), 0.0)
    assert answers(accounts) == {"a": 5}
    assert accounts.own().answers == {503: 5}
    assert accounts.started == 1


def test_what_a_dead_process_did_still_counts() -> None:
    """The totals of a dead process stay and its successor adds to them; its exchanges are over."""
    accounts = Accounts()
    accounts.put(1, account(work("a", 5, inflight=3), s503=2), 0.0)
    accounts.gone(1)
    assert answers(accounts) == {"a": 5}
    assert accounts.works() == []
    accounts.put(2, account(work("a", 1), s503=1), 1.0)
    assert answers(accounts) == {"a": 6}
    assert accounts.own().answers == {503: 3}
    assert accounts.started == 2


def test_one_that_never_told_anything_leaves_nothing() -> None:
    """A process that ended without an account, for instance killed at its start, adds nothing."""
    accounts = Accounts()
    accounts.gone(7)
    assert (accounts.done(), accounts.started) == ({}, 0)


def test_a_worker_that_one_process_has_forgotten_still_counts() -> None:
    """The sum of a worker must not fall when one of two processes no longer lists it."""
    accounts = Accounts()
    accounts.put(1, account(work("a", 5)), 0.0)
    accounts.put(2, account(work("a", 3)), 0.0)
    accounts.put(1, account(), 1.0)
    assert answers(accounts) == {"a": 8}


def test_a_worker_that_moves_goes_on() -> None:
    """The sum of a worker includes its old address, also after the process dropped that address."""
    accounts = Accounts()
    accounts.put(1, account(work("a", 5)), 0.0)
    accounts.put(1, account(work("a", 5), work("a", 2, "10.0.0.2:80")), 1.0)
    assert answers(accounts) == {"a": 7}
    accounts.put(1, account(work("a", 3, "10.0.0.2:80")), 2.0)
    assert answers(accounts) == {"a": 8}


def test_labels_do_not_pile_up() -> None:
    """A worker that no process has listed for long is dropped."""
    accounts = Accounts()
    accounts.put(1, account(work("a", 5)), 0.0)
    accounts.put(1, account(work("b", 1)), KEEP / 2)
    assert set(accounts.done()) == {"a", "b"}
    accounts.put(1, account(work("b", 1)), KEEP + 1)
    assert answers(accounts) == {"b": 1}


STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["work", "forget", "die"]), st.integers(0, 9)),
    max_size=40,
)


def test_a_worker_that_a_silent_process_still_lists_keeps_its_name() -> None:
    """A process that sends nothing for long still counts; its workers are not forgotten."""
    accounts = Accounts()
    accounts.put(1, account(work("a", 3)), 0.0)
    accounts.put(2, account(work("b", 1)), KEEP + 1)
    assert answers(accounts) == {"a": 3, "b": 1}


@given(STEPS)
def test_no_sum_ever_falls(steps: list[tuple[int, str, int]]) -> None:
    """The sum is exact in any order of work, dropped workers and deaths of processes."""
    accounts, lives, counts, done = Accounts(), [0, 0, 0], [0, 0, 0], 0
    before = 0
    for process, what, many in steps:
        number = 10 * lives[process] + process
        if what == "work":
            counts[process] += many
            done += many
            accounts.put(number, account(work("a", counts[process])), 0.0)
        elif what == "forget":
            counts[process] = 0
            accounts.put(number, account(), 0.0)
        else:
            counts[process] = 0
            lives[process] += 1
            accounts.gone(number)
        now = answers(accounts).get("a", 0)
        assert now == done >= before
        before = now
