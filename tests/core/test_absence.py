"""The fleet survives a runtime that cannot be reached."""

from __future__ import annotations

from steelyard.core import events as ev
from steelyard.core.status import status
from tests.core.driver import Driver, decisions, starts, stops

LOST = ev.RuntimeLost("no engine")
FOUND = ev.RuntimeFound()


def fail(d: Driver, name: str) -> None:
    d.tell(ev.Probed(name, ok=False, seconds=0, problem="refused"))


def running(d: Driver, *names: str) -> ev.Reconciled:
    return ev.Reconciled(d.now, tuple(ev.Found(name, "127.0.0.1", 21000) for name in names))


class TestHold:
    def test_a_worker_that_does_not_answer_is_not_called_hung(self):
        """The worker leaves the ring but stays in the fleet, however long the runtime is away."""
        d = Driver().booted()
        d.tell(LOST)
        for _ in range(100):
            d.now += 1
            fail(d, "w1")
            d.tell(ev.Probed("w2", ok=True, seconds=0))
            out = d.tell(ev.Tick())
            assert not stops(out)
            assert not starts(out)
        assert d.ring() == {"w2"}
        assert d.state("w1") == "LU"

    def test_a_probe_that_succeeds_brings_a_worker_back(self):
        """A worker that answers a probe is alive, even without an engine to ask."""
        d = Driver().booted()
        d.tell(LOST)
        fail(d, "w1")
        fail(d, "w1")
        assert d.ring() == {"w2"}
        d.tell(ev.Probed("w1", ok=True, seconds=0))
        assert d.ring() == {"w1", "w2"}

    def test_a_death_is_replaced_when_the_runtime_is_back(self):
        """The replacement starts without a back-off, because the application is not to blame."""
        d = Driver().booted()
        d.tell(LOST)
        assert not starts(d.tell(ev.Exited("w1", "gone")))
        assert not starts(d.ticks(20))
        assert len(starts(d.tell(FOUND))) == 1
        assert d.fleet.restarts.failures == 0

    def test_load_moves_nothing(self):
        """The policy is not asked while nothing can be started."""
        d = Driver().booted()
        d.tell(LOST)
        assert not starts(d.ticks(20, load=100))
        assert d.fleet.target == 2
        assert d.fleet.verdict.reason == "held: the runtime is unreachable"

    def test_a_start_that_was_under_way_raises_no_back_off(self):
        """A start that failed because the runtime was lost is retried when the runtime is back."""
        d = Driver()
        d.open()
        d.tell(LOST)
        d.tell(ev.StartFailed("w1", "no engine"))
        d.tell(ev.StartFailed("w2", "no engine"))
        assert d.fleet.restarts.failures == 0
        assert len(starts(d.tell(FOUND))) == 2

    def test_it_is_decided_once_and_shown(self):
        """Each loss and each return of the runtime is one decision, and the status shows why."""
        d = Driver().booted()
        out = [*d.tell(LOST), *d.tell(LOST)]
        d.now += 12
        text = "the runtime has been unreachable for {} s: no engine; "
        text += "until it answers, no worker is started, stopped or judged"
        assert decisions(out) == [("hold", text.format(0))]
        told = status(d.fleet, d.now)
        assert (told.away, told.away_seconds, told.losses) == (text.format(12), 12.0, 1)
        assert decisions(d.tell(FOUND)) == [("resume", "the runtime answers again after 12.0 s")]
        assert (status(d.fleet, d.now).away, status(d.fleet, d.now).losses) == ("", 1)


class TestReturn:
    def test_the_absence_does_not_count_against_a_worker(self):
        """The times for hung and for booting workers count from the return of the runtime."""
        d = Driver(hung=20.0, boot=30.0)
        d.open()
        d.serve("w1")
        d.tell(ev.Started("w2", "127.0.0.1", 21002))
        d.tell(LOST)
        fail(d, "w1")
        d.now += 100
        d.tell(running(d, "w1", "w2"))
        assert not stops(d.tell(FOUND))
        d.now += 19
        assert not stops(d.tell(ev.Tick()))
        d.now += 2
        assert stops(d.tell(ev.Tick())) == ["w1"]
        d.now += 10
        assert stops(d.tell(ev.Tick())) == ["w2"]

    def test_those_that_it_lost_are_replaced_at_once(self):
        """Workers that the engine killed are replaced together, although they had just started."""
        d = Driver().booted()
        d.tell(LOST)
        d.now += 1
        assert not starts(d.tell(running(d)))
        out = d.tell(FOUND)
        assert len(starts(out)) == 2
        assert ("replace", "replaces w1: ended while the runtime was away") in decisions(out)

    def test_one_whose_end_is_heard_of_a_little_later_went_with_it(self):
        """A swarm may report a worker's end a moment after its return: there is no back-off."""
        d = Driver().booted()
        d.tell(LOST)
        d.now += 1
        d.tell(running(d, "w1", "w2"))
        d.tell(FOUND)
        d.now += 2
        assert len(starts(d.tell(ev.Exited("w1", "exit code 137")))) == 1
        assert d.fleet.restarts.failures == 0

    def test_one_that_was_started_after_it_is_judged_as_ever(self):
        """A worker that was started after the return and fails causes a back-off."""
        d = Driver().booted()
        d.tell(LOST)
        d.tell(ev.Exited("w1", "gone"))
        [name] = starts(d.tell(FOUND))
        d.now += 1
        d.tell(ev.Exited(name, "exit code 1"))
        assert d.fleet.restarts.failures == 1

    def test_a_start_that_went_through_after_all_is_stopped(self):
        """The fleet stops a worker that runs although the runtime had reported a failed start."""
        d = Driver()
        d.open()
        d.tell(LOST)
        d.tell(ev.StartFailed("w1", "no engine"))
        assert stops(d.tell(running(d, "w1"))) == ["w1"]


class TestStop:
    def test_one_that_failed_is_tried_again(self):
        """A failed stop is repeated at the next tick, or when the runtime is back."""
        d = Driver().booted()
        d.serve(*starts(d.tell(ev.DrainAsked("w1"))))
        d.now += 30
        assert stops(d.tell(ev.Tick())) == ["w1"]
        d.tell(ev.StopFailed("w1", "status 500"))
        assert stops(d.tell(ev.Tick())) == ["w1"]
        d.tell(LOST)
        d.tell(ev.StopFailed("w1", "no engine"))
        assert not stops(d.tell(ev.Tick()))
        assert stops(d.tell(FOUND)) == ["w1"]

    def test_a_close_waits_for_the_grace_and_says_what_is_left(self):
        """A close waits for the runtime to come back, and ends without it after the grace."""
        d = Driver(grace=10.0).booted()
        d.tell(LOST)
        d.now += 60
        assert not stops(d.tell(ev.CloseAsked()))
        d.now += 9
        d.tell(ev.Tick())
        assert not d.fleet.closed
        d.now += 1
        out = d.tell(LOST)
        assert d.fleet.closed
        assert d.fleet.left == ("w1", "w2")
        reason = "left running, as the runtime is unreachable: no engine"
        assert decisions(out) == [("leave", reason)]

    def test_a_runtime_lost_during_the_close_has_the_grace_as_well(self):
        """The grace counts from the loss if the runtime is lost during the close."""
        d = Driver(grace=10.0).booted()
        assert set(stops(d.tell(ev.CloseAsked()))) == {"w1", "w2"}
        d.now += 9
        d.tell(LOST)
        d.now += 9
        d.tell(ev.Tick())
        assert not d.fleet.closed
        d.now += 1
        d.tell(ev.Tick())
        assert d.fleet.closed

    def test_a_close_goes_on_when_the_runtime_is_back(self):
        """The workers are stopped as soon as the runtime answers again."""
        d = Driver().booted()
        d.tell(LOST)
        d.tell(ev.CloseAsked())
        assert set(stops(d.tell(FOUND))) == {"w1", "w2"}
        for name in ("w1", "w2"):
            d.tell(ev.Exited(name, "stopped"))
        assert d.fleet.closed
        assert d.fleet.left is None

    def test_asked_again_it_waits_no_longer(self):
        """A second request to close gives the workers up at once."""
        d = Driver().booted()
        d.tell(LOST)
        d.tell(ev.CloseAsked())
        d.tell(ev.CloseAsked(at_once=True))
        assert d.fleet.closed
