"""A runtime that cannot be asked is not a dead fleet."""

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
        """It leaves the ring, and stays in the fleet, however long the runtime is away."""
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
        """Whoever answers lives, and needs no engine for it."""
        d = Driver().booted()
        d.tell(LOST)
        fail(d, "w1")
        fail(d, "w1")
        assert d.ring() == {"w2"}
        d.tell(ev.Probed("w1", ok=True, seconds=0))
        assert d.ring() == {"w1", "w2"}

    def test_a_death_is_replaced_when_the_runtime_is_back(self):
        """Not before, and without a back-off: the application is not to blame."""
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
        assert d.fleet.verdict.reason == "held: the runtime cannot be asked"

    def test_a_start_that_was_under_way_raises_no_back_off(self):
        """It fails with the runtime, and is tried at once when the runtime is back."""
        d = Driver()
        d.open()
        d.tell(LOST)
        d.tell(ev.StartFailed("w1", "no engine"))
        d.tell(ev.StartFailed("w2", "no engine"))
        assert d.fleet.restarts.failures == 0
        assert len(starts(d.tell(FOUND))) == 2

    def test_it_is_decided_once_and_shown(self):
        """One decision for each loss and each return, and a reason that people can read."""
        d = Driver().booted()
        out = [*d.tell(LOST), *d.tell(LOST)]
        d.now += 12
        text = "the runtime cannot be asked for {} s: no engine; "
        text += "nothing is started, stopped or judged"
        assert decisions(out) == [("hold", text.format(0))]
        told = status(d.fleet, d.now)
        assert (told.away, told.away_seconds, told.losses) == (text.format(12), 12.0, 1)
        assert decisions(d.tell(FOUND)) == [("resume", "the runtime answers again, after 12.0 s")]
        assert (status(d.fleet, d.now).away, status(d.fleet, d.now).losses) == ("", 1)


class TestReturn:
    def test_the_absence_does_not_count_against_a_worker(self):
        """Hung is one that fails for so long after the return; booting ones have their time."""
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
        """Killed soon after their start, but by the engine: all are started again together."""
        d = Driver().booted()
        d.tell(LOST)
        d.now += 1
        assert not starts(d.tell(running(d)))
        out = d.tell(FOUND)
        assert len(starts(out)) == 2
        assert ("replace", "replaces w1: ended while the runtime was away") in decisions(out)

    def test_one_whose_end_is_heard_of_a_little_later_went_with_it(self):
        """A swarm takes a moment to know: no back-off for that, either."""
        d = Driver().booted()
        d.tell(LOST)
        d.now += 1
        d.tell(running(d, "w1", "w2"))
        d.tell(FOUND)
        d.now += 2
        assert len(starts(d.tell(ev.Exited("w1", "exit code 137")))) == 1
        assert d.fleet.restarts.failures == 0

    def test_one_that_was_started_after_it_is_judged_as_ever(self):
        """The return excuses nothing that was begun later."""
        d = Driver().booted()
        d.tell(LOST)
        d.tell(ev.Exited("w1", "gone"))
        [name] = starts(d.tell(FOUND))
        d.now += 1
        d.tell(ev.Exited(name, "exit code 1"))
        assert d.fleet.restarts.failures == 1

    def test_a_start_that_went_through_after_all_is_stopped(self):
        """The engine ran what it could not tell of; nobody else would ever stop it."""
        d = Driver()
        d.open()
        d.tell(LOST)
        d.tell(ev.StartFailed("w1", "no engine"))
        assert stops(d.tell(running(d, "w1"))) == ["w1"]


class TestStop:
    def test_one_that_failed_is_tried_again(self):
        """With the next tick, or when the runtime is back."""
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
        """The engine may come back meanwhile; if not, the close ends all the same."""
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
        assert decisions(out) == [("leave", "the runtime cannot be asked: no engine")]

    def test_a_runtime_lost_during_the_close_has_the_grace_as_well(self):
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
        d = Driver().booted()
        d.tell(LOST)
        d.tell(ev.CloseAsked())
        assert set(stops(d.tell(FOUND))) == {"w1", "w2"}
        for name in ("w1", "w2"):
            d.tell(ev.Exited(name, "stopped"))
        assert d.fleet.closed
        assert d.fleet.left is None

    def test_asked_again_it_waits_no_longer(self):
        d = Driver().booted()
        d.tell(LOST)
        d.tell(ev.CloseAsked())
        d.tell(ev.CloseAsked(at_once=True))
        assert d.fleet.closed
