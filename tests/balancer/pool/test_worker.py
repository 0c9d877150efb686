"""The idle connections of a worker, compared with a plain list as a model."""

from __future__ import annotations

import socket

from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.io.loop import IN, Loop
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.worker import Connection, Worker


class Kept(Connection):
    """A connection whose `quiet` returns what the test has set."""

    def __init__(self, loop: Loop, silent: bool) -> None:
        ours, self.theirs = socket.socketpair()
        super().__init__(loop, ours, IN)
        self.silent = silent

    def quiet(self) -> bool:
        return self.silent

    def end(self) -> None:
        self.close()
        self.theirs.close()


STEPS = st.one_of(
    st.tuples(st.just("keep"), st.booleans()),
    st.tuples(st.just("take"), st.booleans()),
    st.tuples(st.just("lose"), st.integers(0, 20)),
)


@given(st.lists(STEPS, max_size=40), st.booleans())
def test_the_last_used_connection_that_is_open_is_taken(
    steps: list[tuple[str, int]], leaves: bool
) -> None:
    """Ended connections are never given out, and are never most of the connections kept."""
    loop = Loop(1.0)
    worker = Worker("a", socket.AF_INET, ("127.0.0.1", 9), Bell())
    made: list[Kept] = []
    model: list[Kept] = []
    for step, value in steps:
        if step == "keep":
            model.append(Kept(loop, silent=bool(value)))
            made.append(model[-1])
            worker.keep(model[-1])
        elif step == "take":
            while value and model and not model[-1].silent:
                model.pop()
            assert worker.take(careful=bool(value)) is (model.pop() if model else None)
        elif model:
            lost = model.pop(value % len(model))
            lost.close()
            worker.lost()
        assert [one for one in worker.idle if one.open] == model
        assert len(worker.idle) <= 2 * len(model) or not model
    if leaves:
        worker.leave()
        assert worker.idle == []
        assert not any(one.open for one in model)
    for one in made:
        one.end()
