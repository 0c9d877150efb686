"""The step policy, as playbooks: a load over time, and the verdicts of the policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.scaling.base import View
from steelyard.core.scaling.step import Step, StepPolicy

STEP = Step(low=20, high=60, critical=80, cooldown=5, dwell_up=4, dwell_down=10)


def view(now: float, load: list[float], **changes) -> View:
    known = {"workers": len(load), "booting": 0, "min": 1, "max": 4, "retirable": 1}
    utilization = {f"w{i}": u for i, u in enumerate(load)}
    return View(now=now, utilization=utilization, **(known | changes))


def after(policy: StepPolicy, seconds: float, load: list[float], **changes):
    """The verdict once the load has lasted for so many seconds."""
    policy.decide(view(0, load, **changes))
    return policy.decide(view(seconds, load, **changes))


@pytest.mark.parametrize(
    ("load", "seconds", "changes", "change", "reason"),
    [
        ([70, 60], 4, {}, +1, "mean U 65 ≥ 60, high for 4 s → +1"),
        ([10, 85], 4, {}, +1, "U 85 of w1 ≥ 80, high for 4 s → +1"),
        ([70, 60], 3, {}, 0, "held: mean U 65 ≥ 60, high for 3 s of 4 s"),
        ([70, 60], 4, {"max": 2}, 0, "held: at max 2, mean U 65 ≥ 60, high for 4 s"),
        ([70, 60], 4, {"booting": 1}, 0, "held: 1 booting, mean U 65 ≥ 60, high for 4 s"),
        (
            [70, 60],
            4,
            {"last_action": 0.8},
            0,
            "held: cooldown 1.8 s left, mean U 65 ≥ 60, high for 4 s",
        ),
        ([5, 5], 10, {}, -1, "mean U 5 < 20 for 10 s → -1"),
        ([5, 5], 10, {"max": 2}, -1, "mean U 5 < 20 for 10 s → -1"),  # goes down even at max
        ([5, 5], 9, {}, 0, "held: mean U 5 < 20 for 9 s of 10 s"),
        ([5, 5], 10, {"min": 2}, 0, "steady: at min 2, mean U 5"),
        (
            [5, 5],
            10,
            {"retirable": 0},
            0,
            "held: no worker may be retired yet, mean U 5 < 20 for 10 s",
        ),
        ([5, 5], 10, {"last_action": 8}, 0, "held: cooldown 3.0 s left, mean U 5 < 20 for 10 s"),
        ([0, 0, 0, 81], 20, {"max": 4}, 0, "held: at max 4, U 81 of w3 ≥ 80, high for 20 s"),
        ([40, 40], 99, {}, 0, "steady: mean U 40 of 2 workers"),
        ([], 99, {}, 0, "steady: mean U 0 of 0 workers"),
    ],
)
def test_verdicts(load, seconds, changes, change, reason):
    """Each verdict gives the measurements that led to it."""
    verdict = after(StepPolicy(STEP), seconds, load, **changes)
    assert (verdict.change, verdict.reason) == (change, reason)


def test_a_break_in_the_load_restarts_the_dwell_time():
    """A load that is high again after a break has not been high for long."""
    policy = StepPolicy(STEP)
    policy.decide(view(0, [90]))
    policy.decide(view(3, [40]))
    assert policy.decide(view(5, [90])).change == 0
    assert policy.decide(view(9, [90])).change == 1


def test_steps_are_cut_to_the_limits():
    """S never exceeds max, and R never goes below min."""
    policy = StepPolicy(Step(up=5, down=5, dwell_up=0, dwell_down=0))
    assert policy.decide(view(0, [90, 90])).change == 2
    assert policy.decide(view(9, [1, 1, 1], retirable=9)).change == -2


@given(
    st.lists(st.lists(st.floats(0, 100), max_size=6), min_size=1, max_size=30),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_no_verdict_leaves_the_limits_or_lacks_a_reason(loads, low, spread):
    """Whatever the load does, the limits and the cooldown hold."""
    policy, last = StepPolicy(STEP), None
    for tick, load in enumerate(loads):
        workers = min(max(len(load), low), low + spread)
        now = 2.0 * tick
        seen = view(now, load, workers=workers, min=low, max=low + spread, last_action=last)
        verdict = policy.decide(seen)
        assert verdict.reason
        assert low <= workers + verdict.change <= low + spread
        if verdict.change:
            assert last is None or now - last >= STEP.cooldown
            last = now
