"""The fleet: all workers of an application. `handle(event, now)` returns the commands to execute.

Theory of operation. `target` is how many workers there should be, within the limits; a policy
moves it, and an operator moves the limits. After every event the fleet settles: it stops workers
that have drained, fails workers that hang or do not boot, starts missing workers (as fast as the
back-off allows), and publishes the queue when it has changed. The death of a worker needs no rule
of its own: it leaves one worker missing, so exactly one is started in its place.

Nothing is started or published before the first Reconciled event: until then the fleet does not
know which workers already run. While the runtime cannot be reached, the fleet keeps the workers it
has (absence).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from steelyard.core import events
from steelyard.core.absence import Absence
from steelyard.core.commands import Command, Decide, Forget, Publish, Save, SaveLimits, Start, Stop
from steelyard.core.ledger import Ledger
from steelyard.core.lifecycle import SERVING, Signal, State
from steelyard.core.limits import Limits
from steelyard.core.links import Links
from steelyard.core.meter import Meter
from steelyard.core.publication import Publication
from steelyard.core.reconcile import differences
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.core.report import Report
from steelyard.core.restarts import Restarts
from steelyard.core.roster import Roster
from steelyard.core.rules import Rules
from steelyard.core.scaling.base import Policy, Verdict, View
from steelyard.core.usage import Sample
from steelyard.core.worker import Worker


class Fleet:
    """Decides what is to be done, and does nothing itself."""

    def __init__(
        self,
        rules: Rules,
        policy: Policy,
        names: Callable[[], str],
        epoch: str,
        limits: LimitsRecord | None = None,
    ) -> None:
        self.rules = rules
        self.policy = policy
        self.limits = Limits.begin((rules.min, rules.max), limits)
        self.target = self.limits.min
        self.roster = Roster()
        self.links = Links(epoch, rules.link_patience)
        self.restarts = Restarts(rules.backoff, rules.backoff_max, rules.stable)
        self.publication = Publication(rules.application, epoch)
        self.ledger = Ledger(rules.application, rules.source)
        self.verdict = Verdict(0, "steady: nothing measured yet")
        self.decisions: deque[Decide] = deque(maxlen=100)
        self.ever_ready = False
        self._names = names
        self._opened: float | None = None  # when the first Reconciled came
        self.absence = Absence()
        self.closing = False
        self.left: tuple[str, ...] | None = None  # workers that may run on after the close
        self._close_by = 0.0  # when a close stops waiting for a runtime that is away
        self._last_action: float | None = None
        # Adopted workers that have not been probed yet: no queue is published before they are.
        self._unproven: set[str] = set()
        # The seconds that the last workers took from their start until they were ready.
        self._boots: deque[float] = deque(maxlen=8)
        self._owed: deque[tuple[str, str]] = deque()  # (action, reason) of starts to come
        self._out: list[Command] = []
        self._now = 0.0

    def handle(self, event: events.Event, now: float) -> list[Command]:
        """Take in one event; return the commands that follow from it, in order.

        An exception from here is a bug of ours. `decided` then has the commands that the fleet gave
        before the exception. They must be executed, because the state of the fleet assumes it.
        """
        self._now, self._out = now, []
        self._take(event)
        if self._opened is not None:
            self._settle(ticking=isinstance(event, events.Tick))
        return self._out

    @property
    def decided(self) -> list[Command]:
        """The commands that the last event led to, also if handling it raised an exception."""
        return self._out

    @property
    def closed(self) -> bool:
        """Whether a close was asked for and no worker is left, or the rest has been given up."""
        return self.closing and (not self.roster.by_name or self.left is not None)

    def _take(self, event: events.Event) -> None:
        match event:
            case events.Reconciled():
                self._reconcile(event)
            case events.Started():
                self._started(event)
            case events.StartFailed(name, reason) | events.Exited(name, reason):
                self._ended(name, reason)
            case events.StopFailed(name):
                self._stop_failed(name)
            case events.RuntimeLost(reason):
                self._runtime_lost(reason)
            case events.RuntimeFound():
                self._runtime_found()
            case events.Sampled(samples):
                self._sampled(samples)
            case events.Probed():
                self._probed(event)
            case events.Reported(report):
                self._reported(report)
            case events.BalancerJoined(balancer):
                self.links.join(balancer)
            case events.BalancerLost(balancer):
                self.links.lose(balancer, self._now)
            case events.QueueRefused(balancer, application):
                self.links.refuse(balancer, application, self._now)
            case events.DrainAsked(name):
                self._drain_asked(name)
            case events.LimitsAsked(low, high):
                self._limits_asked(low, high)
            case events.CloseAsked(at_once):
                self._close(at_once)
            case events.Tick():
                self._tick()

    # Handlers: each takes in one kind of event.

    def _reconcile(self, event: events.Reconciled) -> None:
        differ = differences(event, self.roster)
        self._out += [Forget(name) for name in differ.stale]
        for found, record in differ.unknown:
            self._adopt(found, record)
        for worker in differ.gone:
            away = self.absence.lasts
            self._ended(worker.name, "ended while the runtime was away" if away else "gone")
        self._out += [Stop(name) for name in differ.late]
        if self._opened is None:
            self._open()

    def _open(self) -> None:
        self._opened = self._now
        self.target = self.limits.clamp(len(self.roster.live()))
        # Overwrite stored limits that belong to another configuration: otherwise they would be in
        # force again once that configuration is restored.
        if self.limits.outdated:
            self._out.append(SaveLimits(self.limits.record()))

    def _adopt(self, found: events.Found, record: WorkerRecord | None) -> None:
        sequence = self.roster.next_sequence if record is None else record.sequence
        worker = self._enrol(found.worker, sequence)
        worker.place(found, self._now)
        if record is None or record.state is State.INIT:
            self._unproven.add(worker.name)
        else:
            self._resume(worker, record)
        self._decide("adopt", (worker.name,), f"found running on port {found.port}")
        if self.closing and worker.live:
            self._leave(worker, Signal.DRAIN, "the agent stops")

    def _resume(self, worker: Worker, record: WorkerRecord) -> None:
        worker.state = record.state
        if record.state in SERVING:
            worker.ready, worker.ready_since = True, self._now
            worker.meter.score = record.score
            self.ever_ready = True
        else:
            worker.why_leaving = "was leaving before the restart"
            worker.state, worker.sundown_version = State.SUNDOWN, self.publication.next_version

    def _started(self, event: events.Started) -> None:
        worker = self.roster.get(event.worker)
        if worker is not None:
            worker.place(event, self._now)

    def _ended(self, name: str, reason: str) -> None:
        worker = self.roster.get(name)
        if worker is None:
            return
        if worker.live:
            self._died(worker, reason)
        self.roster.remove(worker)
        self._unproven.discard(name)
        self.ledger.forget(name)
        self._out.append(Forget(name))

    def _died(self, worker: Worker, reason: str) -> None:
        if self._went_with_runtime(worker):
            pass  # the application is not to blame, so no back-off delays the next start
        elif worker.state is State.INIT:
            self._failed(worker, f"ended before it was ready: {reason}")
        elif worker.ready_since and self._now - worker.ready_since < self.rules.stable:
            self._failed(worker, f"ended soon after its start: {reason}")
        worker.move(Signal.DIED, self._now)
        self._owe("replace", f"replaces {worker.name}: {reason}")

    def _went_with_runtime(self, worker: Worker) -> bool:
        """Whether a worker ended because the runtime was away.

        It ended while the runtime was away, or soon after its return: some engines kill the workers
        that they did not watch, or report their end, only when they are back.
        """
        back = self._now - self.absence.ended < self.rules.stable
        return self.absence.lasts or (back and worker.born < self.absence.ended)

    def _stop_failed(self, name: str) -> None:
        worker = self.roster.get(name)
        if worker is not None:
            worker.stop_failed = True

    def _runtime_lost(self, reason: str) -> None:
        if self.absence.begin(reason, self._now):
            self._close_by = max(self._close_by, self._now + self.rules.grace)
            self.verdict = Verdict(0, "held: the runtime is unreachable")
            self._decide("hold", (), self.absence.describe(self._now))

    def _runtime_found(self) -> None:
        if self.absence.lasts:
            seconds = self.absence.end(self._now)
            self._decide("resume", (), f"the runtime answers again after {seconds:.1f} s")
            self._stop_again()

    def _sampled(self, samples: Mapping[str, Sample]) -> None:
        for name, sample in samples.items():
            worker = self.roster.get(name)
            if worker is not None and worker.in_ring:
                worker.sampled(sample, self.rules.cuts, self._now)

    def _probed(self, event: events.Probed) -> None:
        worker = self.roster.get(event.worker)
        if worker is None or not worker.live:
            return
        if event.ok and worker.state is State.INIT and worker.name not in self._unproven:
            self._boots.append(self._now - worker.born)
        worker.probed(event.ok, event.problem, self.rules.patience, self._now)
        self._unproven.discard(worker.name)
        if event.ok:
            self.ever_ready = True
            worker.meter.add_probe(event.seconds)

    def _reported(self, report: Report) -> None:
        # Leave out workers that never existed: exchanges with them would count as load, and the
        # policy would start more workers.
        known = {name: told for name, told in report.workers.items() if self.roster.knows(name)}
        self.links.report(report.model_copy(update={"workers": known}))
        for name, traffic in known.items():
            worker = self.roster.get(name)
            if worker is not None:
                worker.meter.add_traffic(traffic)

    def _drain_asked(self, name: str) -> None:
        worker = self.roster.get(name)
        if worker is None or not worker.live:
            return
        self._owe("replace", f"replaces {name}: drained by an operator")
        self._leave(worker, Signal.DRAIN, "drained by an operator")
        self._decide("drain", (name,), "asked for by an operator")

    def _limits_asked(self, low: int, high: int) -> None:
        before = str(self.limits)
        self.limits.set(low, high)
        if not self.closing:  # a fleet that closes keeps its target of 0
            self.target = self.limits.clamp(self.target)
        self.verdict = Verdict(0, f"steady: limits {before} → {self.limits}")
        self._decide("limits", (), f"asked for by an operator: {before} → {self.limits}")
        self._out.append(SaveLimits(self.limits.record()))

    def _close(self, at_once: bool) -> None:
        self.closing = True
        self._close_by = self._now if at_once else self._now + self.rules.grace
        self.target = 0
        self._owed.clear()
        self._opened = self._now if self._opened is None else self._opened
        for worker in self.roster.live():
            self._leave(worker, Signal.DRAIN, "the agent stops")

    def _tick(self) -> None:
        self.links.expire(self._now)
        self._prove_starts()
        if self.absence.lasts:
            return
        self._stop_again()
        if self._opened is not None and not self.closing:
            self._consult()

    def _prove_starts(self) -> None:
        ready = [(w.born, w.ready_since) for w in self.roster if w.ready_since is not None]
        complete = len(ready) == len(self.roster.by_name) == self.target
        self.restarts.prove(ready, complete, self._now)

    # Scaling: ask the policy and carry out its verdict.

    def _consult(self) -> None:
        self.verdict = self.policy.decide(self.view())
        if self.verdict.change > 0:
            self._grow(self.verdict)
        elif self.verdict.change < 0:
            self._shrink(self.verdict)

    def view(self) -> View:
        """The state of the fleet, as far as a policy may know it."""
        live = len(self.roster.live())
        return View(
            now=self._now,
            workers=self.target,
            booting=self.roster.booting() + max(0, self.target - live),
            min=self.limits.min,
            max=self.limits.max,
            utilization={w.name: w.meter.utilization for w in self.roster.in_ring()},
            retirable=len(self._retirable()),
            last_action=self._last_action,
            open=self.links.open(),
            completed=self.links.completed,
            wait=self.links.wait(),
            boot=max(self._boots, default=None),
        )

    def _grow(self, verdict: Verdict) -> None:
        change = min(verdict.change, self.limits.max - self.target)
        self.target += change
        self._last_action = self._now
        for _ in range(change):
            self._owe("up", verdict.reason)

    def _shrink(self, verdict: Verdict) -> None:
        idle_first = sorted(self._retirable(), key=self._burden)
        signal = Signal.RETIRE if self.policy.spares_busy else Signal.SURPLUS
        leaving = idle_first[: min(-verdict.change, self.target - self.limits.min)]
        for worker in leaving:
            self._leave(worker, signal, verdict.reason)
        if leaving:
            self.target -= len(leaving)
            self._last_action = self._now
            self._decide("down", tuple(w.name for w in leaving), verdict.reason)

    def _burden(self, worker: Worker) -> tuple[int, int, int]:
        """The sort key for retirement: the worker with the lowest key is retired first.

        Tunnels weigh most, because they may outlast any drain; other exchanges do not. Of two
        workers with equally many of both the younger one is retired.
        """
        tunnels = self.links.open_tunnels(worker.name)
        return tunnels, self.links.open_exchanges(worker.name), -worker.sequence

    def _retirable(self) -> list[Worker]:
        if self.policy.spares_busy:
            return self.roster.idle(self.limits.min, self.rules.dwell_down, self._now)
        return self.roster.spare(self.limits.min)

    # Settling: bring the workers, the store and the queue in line with the state.

    def _settle(self, *, ticking: bool) -> None:
        if self.absence.lasts:
            self._give_up_if_overdue()
        else:
            self._act()
        self._save_changes()
        self._publish(ticking)

    def _act(self) -> None:
        for worker in self.roster:
            self._fail_if_overdue(worker)
            self._stop_if_drained(worker)
        self._drain_surplus()
        self._start_missing()

    def _give_up_if_overdue(self) -> None:
        """End a close whose time is up although the runtime, which stops workers, is away."""
        if self.closing and self.left is None and self._now >= self._close_by:
            self.left = tuple(worker.name for worker in self.roster if worker.started)
            reason = f"left running, as the runtime is unreachable: {self.absence.reason}"
            self._decide("leave", self.left, reason)

    def _stop_again(self) -> None:
        for worker in self.roster:
            if worker.stop_failed:
                worker.stop_failed = False
                self._out.append(Stop(worker.name))

    def _fail_if_overdue(self, worker: Worker) -> None:
        if worker.state is State.INIT and self._judged_for(worker.born) >= self.rules.boot:
            problem = worker.problem or "no answer"
            reason = f"was not ready within {self.rules.boot:g} s: {problem}"
            self._failed(worker, reason)
            self._fail(worker, reason)
        elif worker.serving and self._failing_for(worker) >= self.rules.hung:
            self._fail(worker, f"hung for {self.rules.hung:g} s: {worker.problem}")

    def _failing_for(self, worker: Worker) -> float:
        return 0.0 if worker.failing_since is None else self._judged_for(worker.failing_since)

    def _judged_for(self, since: float) -> float:
        """The seconds since `since`, without the time before the runtime last came back."""
        return self._now - max(since, self.absence.ended)

    def _fail(self, worker: Worker, reason: str) -> None:
        worker.move(Signal.FAILED, self._now)
        worker.why_leaving = reason
        self._unproven.discard(worker.name)
        self._owe("replace", f"replaces {worker.name}: {reason}")
        self._decide("stop", (worker.name,), reason)
        self._out.append(Stop(worker.name))

    def _leave(self, worker: Worker, signal: Signal, reason: str) -> None:
        never_listed = worker.state is State.INIT
        worker.move(signal, self._now)
        worker.why_leaving = reason
        worker.sundown_version = -1 if never_listed else self.publication.next_version
        self._unproven.discard(worker.name)

    def _stop_if_drained(self, worker: Worker) -> None:
        if worker.state is not State.SUNDOWN:
            return
        limit = self._drain_limit(worker)
        drained_for = self._now - worker.since
        if self._drained(worker):
            worker.move(Signal.EMPTY, self._now)
            outcome = "drained"
        elif drained_for >= limit:
            worker.move(Signal.DEADLINE, self._now)
            left = self.links.open_exchanges(worker.name)
            tunnels = self.links.open_tunnels(worker.name)
            outcome = (
                f"drain deadline of {limit:g} s passed with {left} exchanges open, "
                f"{tunnels} of them tunnels"
            )
        else:
            worker.closing = drained_for >= limit - min(self.rules.notice, limit / 2)
            return
        self._decide("stop", (worker.name,), f"{outcome}; {worker.why_leaving}")
        self._out.append(Stop(worker.name))

    def _drain_limit(self, worker: Worker) -> float:
        """How long a worker may drain: longer with open tunnels, unless the whole fleet closes."""
        if self.closing or not self.links.open_tunnels(worker.name):
            return self.rules.drain
        return max(self.rules.drain, self.rules.tunnel_drain)

    def _drained(self, worker: Worker) -> bool:
        assert worker.sundown_version is not None  # noqa: S101 - set whenever SUNDOWN is entered
        if not self.links.by_name and not self.closing:
            return self._balancers_had_time()
        return self.links.released(worker.name, worker.sundown_version)

    def _balancers_had_time(self) -> bool:
        """Whether balancers have had time to connect since the agent started."""
        return self._opened is not None and self._now - self._opened >= self.rules.link_patience

    def _drain_surplus(self) -> None:
        live = self.roster.live()
        surplus = len(live) - self.limits.max
        if surplus <= 0 or self.closing:
            return
        for worker in sorted(live[self.limits.min :], key=self._burden)[:surplus]:
            self._leave(worker, Signal.DRAIN, f"above max {self.limits.max}")
            self._decide("down", (worker.name,), f"above max {self.limits.max}")

    def _start_missing(self) -> None:
        missing = self.target - len(self.roster.live())
        if missing <= 0:
            self._owed.clear()
            return
        for _ in range(self.restarts.allowed(missing, self.roster.booting(), self._now)):
            self._start_one()

    def _start_one(self) -> None:
        default = ("start", f"{len(self.roster.live())} of {self.target} workers exist")
        action, reason = self._owed.popleft() if self._owed else default
        worker = self._enrol(self._names(), self.roster.next_sequence)
        self._decide(action, (worker.name,), reason)
        is_default = worker.name in self.roster.defaults(self.limits.min)
        # The record is written before the start: a record without a worker is harmless, but a
        # worker without a record would be adopted as an unknown one.
        self._save(worker, default=is_default)
        self._out.append(Start(worker.name))

    def _enrol(self, name: str, sequence: int) -> Worker:
        meter = Meter(self.rules.rating)
        worker = Worker(name=name, sequence=sequence, born=self._now, meter=meter, since=self._now)
        self.roster.add(worker)
        return worker

    def _save_changes(self) -> None:
        # `defaults` sorts the whole fleet, so it is called once and not for each worker.
        defaults = self.roster.defaults(self.limits.min)
        for worker in self.roster:
            self._save(worker, default=worker.name in defaults)

    def _save(self, worker: Worker, *, default: bool) -> None:
        record = self.ledger.changed(worker, default=default)
        if record is not None:
            self._out.append(Save(record))

    def _publish(self, ticking: bool) -> None:
        if self._unproven:
            return
        changed = self.publication.renew(self.roster)
        if (changed or ticking) and self.publication.queue is not None:
            self._out.append(Publish(self.publication.queue))

    def _owe(self, action: str, reason: str) -> None:
        if not self.closing:
            self._owed.append((action, reason))

    def _failed(self, worker: Worker, what: str) -> None:
        self.restarts.fail(worker.name, what, self._now)

    def _decide(self, action: str, workers: tuple[str, ...], reason: str) -> None:
        decision = Decide(self._now, action, workers, reason)
        self.decisions.append(decision)
        self._out.append(decision)
