"""The laws of the fleet, under any order of events (a model test)."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from steelyard.core import commands as cmd
from steelyard.core import events as ev
from steelyard.core.lifecycle import LEAVING, State
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.predictive import Forecast, PredictivePolicy
from steelyard.core.scaling.step import StepPolicy
from steelyard.core.scaling.target import TargetPolicy, Tracking
from tests.core.driver import STEP, Driver, starts

LOAD = st.sampled_from([0.0, 10.0, 40.0, 70.0, 100.0])
TRACKING = Tracking(Targets(60.0, 2.0, 1.0), window=8, stabilization=10, panic_window=4)
POLICIES = {
    "step": lambda: StepPolicy(STEP),
    "target": lambda: TargetPolicy(TRACKING),
    "predictive": lambda: PredictivePolicy(TRACKING, Forecast(history=20, boot=5)),
}


class FleetMachine(RuleBasedStateMachine):
    """A runtime, balancers and an operator that do anything, in any order."""

    @initialize(
        low=st.integers(1, 3), spread=st.integers(0, 4), policy=st.sampled_from(sorted(POLICIES))
    )
    def begin(self, low: int, spread: int, policy: str) -> None:
        self.policy = policy
        self.d = Driver(POLICIES[policy](), min=low, max=low + spread)
        self.running: set[str] = set()
        self.left: set[str] = set()  # workers that have been in SUNDOWN or SHUTDOWN
        self.actions: list[float] = []
        self.closing = False
        self.check(self.d.open())

    def check(self, out: list[cmd.Command]) -> None:
        """The laws that bind each batch of commands."""
        for command in out:
            match command:
                case cmd.Start(name):
                    assert name not in self.running, "started twice"
                    assert not self.closing, "started while closing"
                    self.running.add(name)
                case cmd.Decide(at, action, _, reason):
                    assert reason, "a decision without a reason"
                    if action in {"up", "down"} and "above max" not in reason:
                        self.note_action(at)

    def tell(self, event: ev.Event) -> list[cmd.Command]:
        """Pass in an event that must not change the target."""
        target = self.d.fleet.target
        out = self.bounded(lambda: self.d.tell(event))
        assert self.d.fleet.target == target, "the target was changed"
        return out

    def bounded(self, act: Callable[[], list[cmd.Command]]) -> list[cmd.Command]:
        """Check that there are no more starts than there are reasons for.

        A start is due for each worker that was lost, each whose start was put off, and each by
        which the target grew. While starts fail, the back-off allows one at a time.
        """
        fleet, before = self.d.fleet, self.live()
        target, put_off = fleet.target, max(0, fleet.target - len(before))
        out = act()
        self.check(out)
        most = len(before - self.live()) + put_off + max(0, fleet.target - target)
        if fleet.restarts.failures:
            most = min(most, 1)
        assert len(starts(out)) <= most, "more starts than there is a reason for"
        return out

    def live(self) -> set[str]:
        return {worker.name for worker in self.d.fleet.roster.live()}

    def note_action(self, at: float) -> None:
        if self.policy == "step" and self.actions and at != self.actions[-1]:
            assert at - self.actions[-1] >= STEP.cooldown, "an action in the cooldown"
        self.actions.append(at)

    def pick(self, data, names) -> str:
        return data.draw(st.sampled_from(sorted(names)))

    @rule(load=LOAD, oldest=LOAD, seconds=st.sampled_from([0.5, 2.0, 7.0]))
    def tick(self, load: float, oldest: float, seconds: float) -> None:
        before = self.d.fleet.roster.defaults(self.d.fleet.limits.min)
        first = self.d.fleet.roster.live()[:1]
        ring = bool(self.d.fleet.roster.in_ring())
        each = {worker.name: oldest for worker in first}
        out = self.bounded(lambda: self.d.tick(load, seconds, **each))
        for command in out:
            if isinstance(command, cmd.Decide) and command.action == "down":
                assert not before & set(command.workers), "a default worker was retired"
                if ring and self.policy != "step":
                    assert self.d.fleet.roster.in_ring(), "the policy emptied the ring"

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def started_and_ready(self, data) -> None:
        name = self.pick(data, self.running)
        self.tell(ev.Started(name, "127.0.0.1", 21000 + int(name[1:])))
        self.tell(ev.Probed(name, ok=True, seconds=0.001))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def probe_fails(self, data) -> None:
        name = self.pick(data, self.running)
        self.tell(ev.Probed(name, ok=False, seconds=2, problem="timed out"))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), twice=st.booleans())
    def dies(self, data, twice: bool) -> None:
        name = self.pick(data, self.running)
        was_live = name in self.live()
        self.running.discard(name)
        out = self.tell(ev.Exited(name, "killed by SIGKILL"))
        if not self.closing and not self.d.fleet.restarts.failures:
            assert len(starts(out)) == was_live, "not one replacement for one death"
        if twice:
            again = self.tell(ev.Exited(name, "killed by SIGKILL"))
            assert starts(again) == [], "two replacements for one death"

    @rule(data=st.data(), balancer=st.sampled_from(["b1", "b2"]), lag=st.integers(0, 3))
    def reports(self, data, balancer: str, lag: int) -> None:
        queue = self.d.fleet.publication.queue
        version = -1 if queue is None else max(-1, queue.version - lag)
        held = {n: data.draw(st.integers(0, 2)) for n in sorted(self.running)[:3]}
        waiting, done = data.draw(st.sampled_from([(0, 0), (0, 9), (8, 1)]))
        wait = 1.5 if waiting else 0.0
        self.bounded(
            lambda: self.d.report(balancer, version, done=done, waiting=waiting, wait=wait, **held)
        )

    @rule(balancer=st.sampled_from(["b1", "b2"]))
    def balancer_lost(self, balancer: str) -> None:
        self.tell(ev.BalancerLost(balancer))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def drain(self, data) -> None:
        self.tell(ev.DrainAsked(self.pick(data, self.running)))

    @precondition(lambda self: not self.closing)
    @rule(low=st.integers(1, 3), spread=st.integers(0, 4))
    def limits(self, low: int, spread: int) -> None:
        self.bounded(lambda: self.d.tell(ev.LimitsAsked(low, low + spread)))

    @rule()
    def reconcile(self) -> None:
        found = [ev.Found(n, "127.0.0.1", 21000 + int(n[1:])) for n in sorted(self.running)]
        self.tell(ev.Reconciled(self.d.now, tuple(found)))

    @precondition(lambda self: len(self.actions) > 3)
    @rule()
    def close(self) -> None:
        self.closing = True
        self.check(self.d.tell(ev.CloseAsked()))

    @invariant()
    def within_limits(self) -> None:
        """There are never more than max workers, and the target is within the limits."""
        fleet = self.d.fleet
        live = len(fleet.roster.live())
        assert live <= fleet.limits.max
        if not self.closing:
            assert fleet.limits.min <= fleet.target <= fleet.limits.max

    @invariant()
    def never_below_the_target_but_for_the_back_off(self) -> None:
        """Every missing worker is being started, unless starts have been failing."""
        fleet = self.d.fleet
        if not self.closing and fleet.restarts.failures == 0:
            assert len(fleet.roster.live()) >= fleet.target

    @invariant()
    def never_above_the_target(self) -> None:
        """No more workers boot or serve than the target, whatever they were started for."""
        assert len(self.d.fleet.roster.live()) <= self.d.fleet.target

    @invariant()
    def sundown_is_final(self) -> None:
        """A worker that has begun to leave stays so until it is gone, and gets no request."""
        for worker in self.d.fleet.roster:
            if worker.name in self.left:
                assert worker.state in LEAVING
            if worker.state in LEAVING:
                self.left.add(worker.name)
        assert not self.left & self.d.ring()

    @invariant()
    def only_ready_workers_are_in_the_ring(self) -> None:
        """The newest queue sends requests only to workers that serve and are ready."""
        for name in self.d.ring():
            worker = self.d.fleet.roster.by_name[name]
            assert worker.ready
            assert worker.state not in {State.INIT, State.SHUTDOWN}


FleetMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestFleetLaws = FleetMachine.TestCase
