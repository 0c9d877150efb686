"""The fleet, as playbooks: events in, commands out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from steelyard.core import commands as cmd
from steelyard.core import events as ev
from steelyard.core.lifecycle import State
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.core.report import Report
from steelyard.core.roster import Roster
from steelyard.core.scaling.fixed import Fixed
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.target import TargetPolicy, Tracking
from tests.core.driver import Driver, decisions, starts, stops


def record(name: str, state: State, sequence: int = 0) -> WorkerRecord:
    return WorkerRecord(
        application="app", name=name, state=state, score=50, host="127.0.0.1", port=1,
        source="serve", default=True, sequence=sequence,
    )  # fmt: skip


def found(name: str) -> ev.Found:
    return ev.Found(name, "127.0.0.1", 21000)


class TestStart:
    def test_nothing_happens_before_it_is_known_what_runs(self):
        """A tick before the first reconciliation starts and publishes nothing."""
        assert Driver().tell(ev.Tick()) == []

    def test_the_default_workers_are_started(self):
        """An empty machine gets `min` workers, each recorded before it is started."""
        out = Driver().open()
        assert starts(out) == ["w1", "w2"]
        kinds = [type(c) for c in out if isinstance(c, cmd.Save | cmd.Start)]
        assert kinds == [cmd.Save, cmd.Start] * 2

    def test_a_worker_is_in_the_ring_once_it_is_ready(self):
        """A booting worker gets no request."""
        d = Driver()
        d.open()
        d.tell(ev.Started("w1", "127.0.0.1", 21001))
        d.tell(ev.Probed("w1", ok=False, seconds=0, problem="refused"))
        assert d.ring() == set()
        d.tell(ev.Probed("w1", ok=True, seconds=0))
        assert (d.state("w1"), d.ring()) == ("LU", {"w1"})


class TestScaling:
    def test_a_saturated_worker_is_high_within_two_ticks(self):
        """The first sample is the base line, and the second gives the utilization."""
        d = Driver().booted()
        d.ticks(2, load=100)
        assert d.state("w1") == "HU"

    def test_high_load_grows_the_fleet_to_max_and_no_further(self):
        """Each step up waits until the worker of the step before has booted."""
        d = Driver().booted()
        for _ in range(40):
            d.serve(*starts(d.tick(load=100)))
        assert len(d.fleet.roster.live()) == 4
        assert d.fleet.verdict.reason.startswith("held: at max 4")

    def test_low_load_retires_one_by_one_down_to_min(self):
        """The policy retires only workers that are not default ones."""
        d = Driver().booted()
        for _ in range(40):
            d.serve(*starts(d.tick(load=100)))
        for _ in range(60):
            for name in stops(d.tick(load=1)):
                d.tell(ev.Exited(name, "exit code 0"))
        assert [w.name for w in d.fleet.roster.live()] == ["w1", "w2"]

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=3))
    def test_the_fewest_tunnels_go_first(self, held):
        """No worker is retired before one with fewer tunnels, whatever else they have open."""
        d = Driver(min=1, max=4).booted()
        d.tell(ev.LimitsAsked(4, 4))
        d.serve("w2", "w3", "w4")
        for number, (tunnels, others) in enumerate(held, 2):
            name = f"w{number}"
            d.report(name, tunnels=tunnels, **{name: tunnels + others})
        d.tell(ev.LimitsAsked(1, 4))
        while d.fleet.target > 3:
            d.tick()
        (gone,) = [w.name for w in d.fleet.roster if not w.live]
        assert held[int(gone[1:]) - 2][0] == min(tunnels for tunnels, _ in held)

    def test_workers_above_max_with_the_fewest_tunnels_go(self):
        """A lower max drains workers with few tunnels first, and never a default worker."""
        d = Driver(min=1, max=4).booted()
        d.tell(ev.LimitsAsked(4, 4))
        d.serve("w2", "w3", "w4")
        d.report("b3", tunnels=1, w3=1)
        d.report("b4", w4=5)
        d.tell(ev.LimitsAsked(1, 2))
        assert [w.name for w in d.fleet.roster.live()] == ["w1", "w3"]

    def test_scaling_decisions_carry_their_reason(self):
        """The command and the list of decisions both have the action and its reason."""
        d = Driver().booted()
        out = d.ticks(4, load=100)
        assert decisions(out)[0] == ("up", "mean U 100 ≥ 60, high for 2 s → +1")
        assert d.fleet.decisions[-1].action == "up"

    def test_boot_load_is_not_load(self):
        """CPU consumed before the worker was ready does not count."""
        d = Driver(min=1).booted()
        d.ticks(3, load=100)  # w2 boots in this time, also at full load
        d.serve("w2")
        d.tick(load=0)
        d.tick(load=0)
        assert d.fleet.roster.by_name["w2"].meter.utilization < 20

    def test_load_while_it_was_not_ready_is_not_load(self):
        """Usage in the time a worker hung does not count once it is ready again."""
        d = Driver(hung=1000.0).booted()
        d.ticks(2)
        for _ in range(2):
            d.tell(ev.Probed("w1", ok=False, seconds=2, problem="timed out"))
        d.ticks(5, load=100)
        d.tell(ev.Probed("w1", ok=True, seconds=0))
        d.tick()
        assert d.fleet.roster.by_name["w1"].meter.utilization < 20

    def test_a_default_worker_stays_even_when_it_alone_is_idle(self):
        """The other worker is busy, and so may not be retired either."""
        d = Driver(min=1).booted()
        d.tell(ev.LimitsAsked(2, 4))
        d.serve("w2")
        d.tell(ev.LimitsAsked(1, 4))
        for _ in range(20):
            d.tick(w1=0, w2=35)
        assert (d.state("w1"), d.state("w2")) == ("LU", "MU")
        assert d.fleet.verdict.reason.startswith("held: no worker may be retired yet")

    def test_a_hung_worker_is_no_reason_to_scale(self):
        """The load of workers out of the ring is not counted."""
        d = Driver(hung=1000.0).booted()
        d.ticks(2, load=50)
        for _ in range(2):
            d.tell(ev.Probed("w1", ok=False, seconds=0))
        assert set(d.fleet.view().utilization) == {"w2"}


class TestTarget:
    """A fleet with a policy that follows a target."""

    TRACKING = Tracking(Targets(60, spare=0), window=6, stabilization=10, panic_window=4)

    def grown(self, **changes) -> Driver:
        """A fleet of one default worker and three more, all at 60 %."""
        d = Driver(TargetPolicy(self.TRACKING), min=1, max=4, **changes).booted()
        while len(d.fleet.roster.in_ring()) < 4:
            d.serve(*starts(d.tick(load=100)))
        d.ticks(8, load=60)
        return d

    def test_a_fleet_shrinks_although_no_worker_is_idle(self):
        """At 35 % all workers are in MU and three suffice, but `step` would keep all four."""
        d = self.grown()
        out = d.ticks(8, load=35)
        down = [c for c in out if isinstance(c, cmd.Decide) and c.action == "down"]
        assert [c.workers for c in down] == [("w4",)]
        why = "2.3 workers needed over 6 s (mean U 35 of 4 workers, target U 60)"
        assert down[0].reason == f"{why} → -1"

    def test_the_newest_that_has_least_to_do_goes_first_and_drains(self):
        """The idle worker is retired, gets no new request and finishes the old ones."""
        d = self.grown()
        d.report(w2=1, w3=0, w4=1)
        d.ticks(8, load=35)
        assert (d.state("w3"), "w3" in d.ring()) == ("SUNDOWN", False)
        d.report(w3=1)
        assert d.state("w3") == "SUNDOWN"
        d.report(w3=0)
        assert d.state("w3") == "SHUTDOWN"

    def test_default_workers_stay_even_when_they_alone_are_idle(self):
        """The default worker w1 stays although it has no load and the others have some."""
        d = self.grown()
        for _ in range(8):
            d.tick(w1=0, w2=40, w3=40, w4=40)
        assert d.state("w1") == "LU"
        assert d.ring() == {"w1", "w2", "w3"}

    def test_the_last_that_can_serve_stays(self):
        """While the default worker hangs, one worker that can serve stays in the ring."""
        d = self.grown(hung=1000.0)
        for _ in range(2):
            d.tell(ev.Probed("w1", ok=False, seconds=2, problem="timed out"))
        d.ticks(40, load=0)
        assert [w.name for w in d.fleet.roster.in_ring()] == ["w2"]

    def test_what_waits_is_a_reason_to_grow(self):
        """The need counts open exchanges and waiting requests of all balancers."""
        tracking = Tracking(Targets(None, 2.0), window=2, panic_window=2)
        d = Driver(TargetPolicy(tracking), min=1, max=9).booted()
        d.report("b1", w1=1, waiting=3)
        d.report("b2", w1=1, waiting=1)
        assert decisions(d.tick())[0] == (
            "up",
            "3.0 workers needed over 2 s: panic (6 requests open for 1 worker, target 2 each) → +2",
        )

    def test_policies_are_told_how_long_a_boot_takes(self):
        """The boot time runs from a worker's start to its first good probe; the longest counts."""
        d = Driver(min=2)
        d.open()
        d.now += 3
        d.serve("w1")
        d.now += 1.5
        d.serve("w2")
        d.tell(ev.Probed("w1", ok=True, seconds=0))
        assert d.fleet.view().boot == 4.5

    def test_an_adopted_worker_tells_nothing_of_its_boot(self):
        """The boot time of a worker that ran before the agent did is unknown."""
        d = Driver()
        d.open([found("w7")])
        d.now += 9
        d.tell(ev.Probed("w7", ok=True, seconds=0))
        assert d.fleet.view().boot is None

    def test_policies_are_told_what_was_done(self):
        """The view counts answered, failed and refused requests of all reports."""
        d = Driver().booted()
        d.report(done=5, w1=0, w2=1)
        d.tell(ev.Reported(Report(balancer="b2", epoch="e", version=0, workers={}, refused=2)))
        assert (d.fleet.view().completed, d.fleet.view().open) == (12, 1)


class TestDeath:
    def test_a_dead_worker_is_replaced_once(self):
        """A second report of the same death starts no second replacement."""
        d = Driver().booted()
        d.ticks(10)
        assert starts(d.tell(ev.Exited("w1", "killed by SIGKILL"))) == ["w3"]
        assert starts(d.tell(ev.Exited("w1", "killed by SIGKILL"))) == []
        assert ("replace", "replaces w1: killed by SIGKILL") in decisions(d.log)

    def test_a_dead_worker_leaves_the_queue_at_once(self):
        """The commands for the death include the queue without the worker."""
        d = Driver().booted()
        out = d.tell(ev.Exited("w1", "gone"))
        queues = [c.queue for c in out if isinstance(c, cmd.Publish)]
        assert [e.name for e in queues[-1].workers] == ["w2"]

    def test_a_worker_that_is_being_stopped_is_named_to_its_end(self):
        """A stopping worker stays in the queue, because it may still answer open requests."""
        d = Driver(hung=5.0).booted()
        for _ in range(2):
            d.tell(ev.Probed("w1", ok=False, seconds=2, problem="timed out"))
        d.ticks(3)
        named = {entry.name: entry for entry in d.fleet.publication.queue.workers}
        assert (named["w1"].state, named["w1"].weight) == (State.SHUTDOWN, 0)
        d.tell(ev.Exited("w1", "killed by SIGKILL"))
        assert "w1" not in {entry.name for entry in d.fleet.publication.queue.workers}

    def test_a_worker_that_crashes_at_once_is_tried_ever_more_slowly(self):
        """Workers are started one at a time, after 1, 2, 4 … seconds."""
        d = Driver()
        crashed = starts(d.open())
        waits, last = [], d.now
        while len(waits) < 4:
            for name in crashed:
                d.tell(ev.Exited(name, "exit code 1"))
            crashed = starts(d.tick(seconds=0.5))
            if crashed:
                assert len(crashed) == 1
                waits.append(d.now - last)
                last = d.now
        assert waits == [1, 2, 4, 8]
        assert "ended before it was ready: exit code 1" in d.fleet.restarts.trouble

    def test_a_worker_that_stays_up_ends_the_back_off(self):
        """The back-off ends when a worker that was started after the failure has lasted."""
        d = Driver()
        for name in starts(d.open()):
            d.tell(ev.Exited(name, "exit code 1"))
        d.serve(*starts(d.tick()))
        assert starts(d.log)[-1] == "w4"  # started as soon as w3 is ready
        d.ticks(8)
        assert (d.fleet.restarts.failures, d.fleet.restarts.trouble) == (0, "")

    def test_a_worker_that_never_listens_is_failed(self):
        """The reason has the problem that its last probe found."""
        d = Driver(boot=6.0)
        d.open()
        d.tell(ev.Started("w1", "127.0.0.1", 21001))
        d.tell(ev.Probed("w1", ok=False, seconds=0, problem="connection refused"))
        out = d.ticks(3)
        assert "w1" in stops(out)
        assert "not ready within 6 s: connection refused" in str(decisions(out))

    def test_a_hung_worker_leaves_the_ring_and_is_replaced(self):
        """A worker leaves the ring after two failed probes and is stopped if they go on."""
        d = Driver(hung=5.0).booted()
        for _ in range(2):
            d.tell(ev.Probed("w1", ok=False, seconds=2, problem="timed out"))
        assert d.ring() == {"w2"}
        out = d.ticks(3)
        assert (stops(out), starts(out)) == (["w1"], ["w3"])


class TestDrain:
    def leaving(self, **rules: float) -> Driver:
        d = Driver(**rules).booted()
        d.report("b1", w1=2)
        d.report("b2", w1=0)
        d.tell(ev.DrainAsked("w1"))
        return d

    def test_a_drained_worker_gets_nothing_new_and_is_replaced(self):
        """A drained worker leaves the ring at once, and a new worker starts."""
        d = self.leaving()
        assert (d.state("w1"), d.ring(), starts(d.log)[-1]) == ("SUNDOWN", {"w2"}, "w3")

    def test_it_is_stopped_when_all_balancers_have_let_go(self):
        """Each balancer must have seen the queue and have no exchange with the worker."""
        d = self.leaving()
        assert stops(d.report("b2")) == []
        assert stops(d.report("b1", w1=1)) == []
        assert stops(d.report("b1")) == ["w1"]

    def test_a_balancer_with_an_older_queue_may_still_pick_it(self):
        """A worker has not drained while a balancer still uses an older queue."""
        d = self.leaving()
        d.report("b2")
        old = d.fleet.publication.queue.version - 1
        assert stops(d.report("b1", version=old)) == []

    def test_the_deadline_ends_the_wait(self):
        """An exchange that never ends does not keep a worker for ever."""
        d = self.leaving()
        assert "w1" in stops(d.ticks(15))

    def test_tunnels_have_a_deadline_of_their_own(self):
        """A worker with open tunnels is stopped after `tunnel_drain`, not after `drain`."""
        d = self.leaving(drain=30.0, tunnel_drain=60.0)
        d.report("b1", w1=2, tunnels=2)
        assert "w1" not in stops(d.ticks(20))
        assert "w1" in stops(d.ticks(15))
        assert "2 of them tunnels" in str(d.fleet.decisions)

    def test_a_deadline_is_announced(self):
        """The queue announces a stop some seconds before, so that balancers can close tunnels."""
        d = self.leaving(drain=30.0, tunnel_drain=60.0)
        d.report("b1", w1=2, tunnels=2)
        told = []
        while "w1" not in stops(d.tick()):
            (entry,) = [e for e in d.fleet.publication.queue.workers if e.name == "w1"]
            told.append(entry.closing)
            d.report("b1", w1=2, tunnels=2)
        # Ticks are 2 s apart, and the notice begins 5 s before the deadline at 60 s.
        assert told == [False] * 27 + [True] * 2

    def test_a_short_drain_is_announced_half_way(self):
        """A drain that is shorter than the notice is announced after half of its time."""
        d = self.leaving(drain=4.0)
        d.report("b1", w1=1)
        assert not d.fleet.roster.by_name["w1"].closing
        d.tick()
        assert d.fleet.roster.by_name["w1"].closing

    def test_a_worker_whose_tunnels_have_ended_has_the_usual_deadline(self):
        """A worker without open tunnels has only `drain`, as other exchanges are short."""
        d = self.leaving(drain=30.0, tunnel_drain=60.0)
        d.report("b1", w1=2, tunnels=2)
        d.report("b1", w1=2)
        assert "w1" in stops(d.ticks(15))

    def test_a_lost_balancer_is_waited_for_then_forgotten(self):
        """A lost balancer may still be serving, so it is taken for dead only after a while."""
        d = self.leaving()
        d.report("b2")
        d.tell(ev.BalancerLost("b1"))
        assert stops(d.ticks(4)) == []
        assert stops(d.ticks(2)) == ["w1"]

    def test_a_balancer_that_takes_leave_holds_nothing(self):
        """The last report of a balancer removes its exchanges."""
        d = self.leaving()
        d.report("b2")
        farewell = Report(balancer="b1", epoch="e", version=0, workers={}, farewell=True)
        assert stops(d.tell(ev.Reported(farewell))) == ["w1"]


class TestRestart:
    def test_running_workers_are_adopted_and_none_is_started(self):
        """Workers with a record go on serving, and are in the ring at once."""
        d = Driver()
        records = [record("a", State.LU, 0), record("b", State.HU, 1)]
        out = d.open([found("a"), found("b")], records)
        assert (starts(out), d.ring(), d.state("b")) == ([], {"a", "b"}, "HU")

    def test_a_record_without_a_worker_is_deleted(self):
        """A worker is started in place of the missing one."""
        d = Driver()
        out = d.open([found("a")], [record("a", State.LU), record("b", State.LU, 1)])
        assert cmd.Forget("b") in out
        assert len(starts(out)) == 1

    def test_a_worker_without_a_record_is_adopted(self):
        """The worker is probed first, and no queue is published until then."""
        d = Driver()
        out = d.open([found("a"), found("b")], [record("b", State.LU)])
        assert starts(out) == []
        assert not [c for c in out if isinstance(c, cmd.Publish)]
        d.tell(ev.Probed("a", ok=True, seconds=0))
        assert d.ring() == {"a", "b"}

    def test_a_worker_that_was_leaving_goes_on_leaving(self):
        """SUNDOWN survives a restart, and balancers are given time to come back."""
        d = Driver()
        d.open([found("a"), found("b"), found("c")], [
            record("a", State.LU, 0), record("b", State.LU, 1), record("c", State.SUNDOWN, 2),
        ])  # fmt: skip
        assert (d.state("c"), d.ring()) == ("SUNDOWN", {"a", "b"})
        assert stops(d.ticks(4)) == []
        assert stops(d.ticks(2)) == ["c"]

    def test_a_worker_that_was_being_stopped_is_stopped(self):
        """A worker that was being stopped when its agent was killed does not serve again."""
        d = Driver(hung=1.0).booted()
        for _ in range(2):
            d.tell(ev.Probed("w1", ok=False, seconds=2, problem="timed out"))
        saved = {c.record.name: c.record for c in d.tick() if isinstance(c, cmd.Save)}
        assert saved["w1"].state is State.SHUTDOWN
        d = Driver()
        d.open([found("a")], [saved["w1"].model_copy(update={"name": "a"})])
        assert d.state("a") == "SUNDOWN"

    def test_the_number_of_workers_survives(self):
        """Four adopted workers stay four until the policy changes it, even if one dies."""
        d = Driver(Fixed())
        d.open([found(n) for n in "abcd"], [record(n, State.LU, i) for i, n in enumerate("abcd")])
        d.ticks(20)
        assert len(starts(d.tell(ev.Exited("a", "exit code 1")))) == 1
        assert len(d.fleet.roster.live()) == 4

    def test_a_late_list_brings_no_ended_worker_back(self):
        """A list that was read just before a worker ended does not bring it back."""
        d = Driver().booted()
        d.tell(ev.Exited("w1", "exit code 0"))
        d.open([found("w1"), found("w2")])
        assert d.state("w1") == "gone"

    def test_a_worker_started_after_the_list_was_read_is_not_missing(self):
        """A worker that is younger than the list of running workers stays in the fleet."""
        d = Driver()
        d.open()
        read_at = d.now
        d.now += 1
        d.serve("w1", "w2")
        d.tell(ev.Reconciled(read_at, ()))
        assert d.state("w1") == "LU"

    def test_a_worker_missing_from_the_list_has_ended(self):
        """A worker whose end was missed is replaced."""
        d = Driver().booted()
        d.ticks(10)
        assert len(starts(d.open([found("w2")]))) == 1
        assert d.state("w1") == "gone"


class TestLimits:
    def test_raising_min_starts_workers(self):
        """A higher min starts workers at once, and the new limits are stored."""
        d = Driver().booted()
        out = d.tell(ev.LimitsAsked(3, 6))
        assert len(starts(out)) == 1
        kept = LimitsRecord(min=3, max=6, configured_min=2, configured_max=4)
        assert cmd.SaveLimits(kept) in out

    def test_lowering_max_drains_the_newest(self):
        """Workers above a lower max are drained."""
        d = Driver().booted()
        d.tell(ev.LimitsAsked(1, 1))
        assert (d.state("w1"), d.state("w2")) == ("LU", "SUNDOWN")

    def test_limits_set_at_run_time_survive_a_restart(self):
        """Run-time limits stay in force until the configured limits change."""
        kept = LimitsRecord(min=3, max=6, configured_min=2, configured_max=4)
        assert (Driver(limits=kept).fleet.limits.min, Driver(limits=kept).fleet.limits.max) == (
            3,
            6,
        )
        changed = Driver(limits=kept, max=5).fleet
        assert (changed.limits.min, changed.limits.max) == (2, 5)


class TestClose:
    def test_closing_stops_everything_and_starts_nothing(self):
        """Without a balancer all workers are stopped at once, and none is replaced."""
        d = Driver().booted()
        out = d.tell(ev.CloseAsked())
        assert stops(out) == ["w1", "w2"]
        for name in ("w1", "w2"):
            assert starts(d.tell(ev.Exited(name, "exit code 0"))) == []
        assert d.fleet.closed


def test_new_limits_do_not_turn_an_end_round():
    """Limits that are changed while the agent stops are stored, but start no worker."""
    driver = Driver().booted()
    driver.tell(ev.CloseAsked())
    out = driver.tell(ev.LimitsAsked(3, 4))
    assert starts(out) == []
    assert any(isinstance(command, cmd.SaveLimits) for command in out)
    for name in ("w1", "w2"):
        driver.tell(ev.Exited(name, "stopped"))
    assert driver.fleet.closed


def test_an_event_of_one_worker_does_not_sort_the_fleet_for_each_other(monkeypatch):
    """One event sorts the fleet a few times at most, as there are hundreds of probes a second."""
    driver = Driver(min=50, max=50).booted()
    asked: list[int] = []
    defaults = Roster.defaults
    monkeypatch.setattr(Roster, "defaults", lambda self, n: asked.append(n) or defaults(self, n))
    driver.tell(ev.Probed("w1", ok=True, seconds=0.001))
    assert len(asked) < 5
