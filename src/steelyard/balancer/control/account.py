"""Account: the counts of this process since its start, for the supervisor."""

from __future__ import annotations

from time import monotonic, process_time

from steelyard.balancer.downstream.front import Front
from steelyard.balancer.pool.table import Directory
from steelyard.balancer.pool.worker import Worker
from steelyard.core.account import Account, Done, Own, Work


def draw_up(front: Front, directory: Directory) -> Account:
    """Return the present account. The data thread may be counting an exchange meanwhile; the next
    account contains its remaining counts."""
    now, pool = monotonic(), front.pool
    return Account(
        version=pool.table.version,
        connections=len(front.clients),
        waiting=len(pool.waiting),
        own=Own(
            answers=dict(front.own),
            refused=pool.refused,
            unshaken=front.unshaken,
            retries=pool.budget.spent,
            cpu=process_time(),
        ),
        workers=tuple(_work(worker, now) for worker in directory),
    )


def _work(worker: Worker, now: float) -> Work:
    tally = worker.tally
    return Work(
        name=worker.name,
        place=f"{worker.address[0]}:{worker.address[1]}",
        inflight=tally.inflight,
        ejected=worker.record.until > now,
        done=Done(
            statuses=tuple(tally.statuses),
            failures=tally.failures,
            ejections=tally.ejections,
            sent=tally.sent,
            received=tally.received,
            seconds=tally.seconds,
            histogram=tuple(tally.histogram),
        ),
    )
