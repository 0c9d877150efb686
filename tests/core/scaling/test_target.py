"""The target policy, as playbooks: a load over time, and what the policy says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.scaling.base import View
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.target import TargetPolicy, Tracking

TRACKING = Tracking(
    Targets(50, spare=0), tolerance=10, window=10, stabilization=30, panic_window=4, panic=180
)


def view(now: float, load: list[float], **changes) -> View:
    known = {"workers": len(load), "booting": 0, "min": 1, "max": 8, "retirable": 9}
    utilization = {f"w{i}": u for i, u in enumerate(load)}
    return View(now=now, utilization=utilization, **(known | changes))


def after(seconds: float, load: list[float], **changes):
    """The verdict once the load has lasted, by ticks of 2 s."""
    policy = TargetPolicy(TRACKING)
    for tick in range(int(seconds // 2)):
        policy.decide(view(2.0 * tick, load, **changes))
    return policy.decide(view(seconds, load, **changes))


@pytest.mark.parametrize(
    ("load", "seconds", "changes", "change", "reason"),
    [
        ([70, 70], 10, {}, +1, "need 2.8 over 10 s (U 70 of 2, target 50) → +1"),
        ([80] * 5, 10, {}, +3, "need 8.0 over 10 s (U 80 of 5, target 50) → +3"),
        ([80] * 5, 10, {"workers": 8, "booting": 3}, 0, "steady: need 8.0 over 10 s"),
        ([54, 54], 10, {}, 0, "steady: need 2.2 over 10 s (U 54 of 2, target 50), 2 workers"),
        ([46, 46], 10, {}, 0, "steady: need 1.8 over 10 s"),
        ([80] * 5, 10, {"max": 6}, +1, "need 8.0 over 10 s (U 80 of 5, target 50) → +1"),
        ([80] * 5, 10, {"max": 5}, 0, "held: at max 5, need 8.0"),
        ([20] * 5, 32, {}, -3, "need 2.0 over 10 s (U 20 of 5, target 50) → -3"),
        ([20] * 5, 32, {"retirable": 1}, -1, "need 2.0"),
        ([20] * 5, 32, {"retirable": 0}, 0, "held: no worker may go yet, need 2.0"),
        ([20] * 5, 32, {"min": 4}, -1, "need 2.0"),
        ([0] * 3, 30, {"min": 3}, 0, "steady: need 0.0 over 10 s (U 0 of 3, target 50), 3 workers"),
        ([], 30, {"workers": 2, "booting": 2}, 0, "held: nothing measured, 2 workers"),
    ],
)
def test_verdicts(load, seconds, changes, change, reason):
    """Each verdict says what it saw."""
    verdict = after(seconds, load, **changes)
    assert verdict.change == change
    assert verdict.reason.startswith(reason)


def test_a_lull_does_not_cost_workers():
    """Down only when nothing within the stabilisation window asked for more."""
    policy = TargetPolicy(TRACKING)
    said = [
        policy.decide(view(2.0 * tick, [50] * 4 if tick < 5 else [10] * 4)) for tick in range(26)
    ]
    assert all(verdict.change == 0 for verdict in said[:20])
    assert said[12].reason.startswith("held: 4 wanted within 30 s, need 0.8")
    assert next(verdict.change for verdict in said if verdict.change) == -1  # 3 wanted, at first
    assert said[-1].change == -3


def test_what_it_finds_at_its_start_was_wanted():
    """An agent that has just begun has measured nothing: nobody goes for that."""
    policy = TargetPolicy(TRACKING)
    verdict = policy.decide(view(100, [0] * 4))
    assert verdict.change == 0
    assert verdict.reason.startswith("held: 4 wanted within 30 s")
    assert policy.decide(view(131, [0] * 4)).change == -3


def test_panic_does_not_wait_for_the_window():
    """Half a minute of calm, then everything at once: met after the short window."""
    policy = TargetPolicy(TRACKING)
    for tick in range(15):
        policy.decide(view(2.0 * tick, [40, 40], completed=80 + tick, open=10))
    assert policy.decide(view(30, [100, 100], completed=100, open=10)).change == 0
    verdict = policy.decide(view(32, [100, 100], completed=120, open=30))
    assert verdict.change == +4
    assert "over 4 s: panic (U 100 × 2.0 for what came over what was answered" in verdict.reason


def test_nobody_is_retired_in_a_panic():
    """Nor for a window after it."""
    policy = TargetPolicy(
        Tracking(Targets(50, spare=0), window=10, stabilization=0, panic_window=4)
    )
    policy.decide(view(0, [100]))
    said = {now: policy.decide(view(now, [1, 1, 1, 1])) for now in (4, 6, 8, 10)}
    assert said[8].change == 0
    assert said[8].reason == "steady: panic 8 s ago, 4 workers"
    assert said[10].change < 0


@given(
    st.lists(
        st.tuples(st.lists(st.floats(0, 100), max_size=6), st.integers(0, 50), st.integers(0, 9)),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_no_verdict_leaves_the_limits_or_lacks_a_reason(moments, low, spread):
    """Whatever the load does, the limits hold, and nobody goes who may not."""
    policy = TargetPolicy(
        Tracking(Targets(50, 3, 1, spare=0), window=8, stabilization=8, panic_window=4)
    )
    for tick, (load, count, spare) in enumerate(moments):
        workers = min(max(len(load), low), low + spread)
        seen = view(
            2.0 * tick, load, workers=workers, min=low, max=low + spread, retirable=spare,
            open=count, completed=tick * count, wait=count / 10,
        )  # fmt: skip
        verdict = policy.decide(seen)
        assert verdict.reason
        assert low <= workers + verdict.change <= low + spread
        assert -verdict.change <= spare
