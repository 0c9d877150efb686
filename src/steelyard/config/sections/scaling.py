"""How workers are rated, and how many there are."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from steelyard.config.section import Rule, Section, key
from steelyard.config.values import (
    Count,
    Percent,
    Seconds,
)


class Score(Section):
    """How a worker is rated, 0…100 (docs/architecture.md has the formulas)."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "at least one weight above 0",
            ("cpu", "memory", "network", "availability"),
            lambda it: it.cpu + it.memory + it.network + it.availability > 0,
        ),
    )

    cpu: float = key(0.35, "Weight of the CPU score.", ge=0)
    memory: float = key(0.25, "Weight of the memory score.", ge=0)
    network: float = key(0.15, "Weight of the network score.", ge=0)
    availability: float = key(0.25, "Weight of the availability score.", ge=0)
    network_capacity: float | None = key(
        None, "MB/s that count as a full network; none: relative change counts.", gt=0
    )
    history: Count = key(20, "Response times that are averaged.")
    best: Count = key(10, "How many of the best response times are averaged.")
    best_age: Seconds = key(300.0, "A best response time is forgotten after this.", gt=0)
    smoothing: float = key(0.2, "Weight of the newest value in the smoothed one.", gt=0, le=1)


class States(Section):
    """Where utilization changes a worker's state."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("low < high", ("low", "high"), lambda it: it.low < it.high),
        # Otherwise a worker that was busy once could never be rated low again.
        Rule("hysteresis < low", ("hysteresis", "low"), lambda it: it.hysteresis < it.low),
    )

    low: Percent = key(30.0, "Utilization below this is low (LU).")
    high: Percent = key(60.0, "Utilization from this on is high (HU).")
    hysteresis: Percent = key(5.0, "How far below a cut utilization must fall to go back.")


class Scaling(Section):
    """How many workers there are."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("min ≤ max", ("min", "max"), lambda it: it.min <= it.max),
        Rule("low < high", ("low", "high"), lambda it: it.low < it.high),
        Rule("high ≤ critical", ("high", "critical"), lambda it: it.high <= it.critical),
        Rule(
            "backoff ≤ backoff_max",
            ("backoff", "backoff_max"),
            lambda it: it.backoff <= it.backoff_max,
        ),
        Rule(
            "panic_window ≤ window",
            ("panic_window", "window"),
            lambda it: it.panic_window <= it.window,
        ),
        Rule(
            # No wait says that there are enough workers, not that fewer would do.
            "a target of utilization or in_flight, or both",
            ("target_utilization", "target_in_flight"),
            lambda it: (it.target_utilization, it.target_in_flight) != (None, None),
        ),
    )

    policy: Literal["step", "target", "predictive", "fixed"] = key(
        "step",
        "The scaling policy: `step` adds and retires one by one, between `low` and `high`; "
        "`target` has as many workers as carry `target_…` each; `predictive` looks as far ahead "
        "as a worker takes to boot, besides; `fixed` keeps what there is.",
    )
    min: Count = key(4, "Fewest workers; the first ones are never retired.", flag="--min")
    max: Count = key(8, "Most workers.", flag="--max")
    low: Percent = key(20.0, "Retire workers while mean utilization is below this.")
    high: Percent = key(60.0, "Add workers when mean utilization reaches this.")
    critical: Percent = key(80.0, "Add workers when one worker's utilization reaches this.")
    up: Count = key(1, "How many workers one decision adds.")
    down: Count = key(1, "How many workers one decision retires.")
    cooldown: Seconds = key(5.0, "Time after a decision in which there is no other.")
    dwell_up: Seconds = key(4.0, "How long the load must be high before workers are added.")
    dwell_down: Seconds = key(30.0, "How long the load must be low before workers are retired.")
    target_utilization: Annotated[float, Field(gt=0, le=100)] | None = key(
        80.0, "Mean utilization that `target` aims at; none: it does not count."
    )
    spare: Annotated[float, Field(ge=0)] = key(
        1.5,
        "Workers that `target` has beside the busy ones, at least, times their square root: "
        "requests come by chance, and a small fleet needs a larger share for that than a large "
        "one; 0: what utilization asks for, and no more.",
    )
    target_in_flight: Annotated[float, Field(gt=0)] | None = key(
        None,
        "Open requests per worker that `target` aims at, those in the waiting line included; of "
        "several targets the one that needs most workers counts.",
    )
    target_wait: Seconds | None = key(
        None, "Wait in the gateway's line from which on `target` adds workers.", gt=0
    )
    tolerance: Percent = key(10.0, "How far off `target` may be before it changes anything.")
    window: Seconds = key(30.0, "`target` goes by the mean over this time.", gt=0)
    stabilization: Seconds = key(
        120.0, "On the way down, the most workers that `target` wanted within this time count."
    )
    panic_window: Seconds = key(
        6.0, "Over this shorter time `target` looks out for more than it can wait with.", gt=0
    )
    panic: Annotated[float, Field(ge=100)] = key(
        150.0,
        "That is, for a need of so many percent of the workers that serve: it is met at once, and "
        "nobody is retired until there has been none for a `window`.",
    )
    history: Seconds = key(120.0, "Through so much of the past `predictive` draws its line.", gt=0)
    drain: Seconds = key(30.0, "A retired worker is stopped after this even if it is not done.")
    tunnel_drain: Seconds = key(
        3600.0,
        "The same for a retired worker with open tunnels (WebSocket), if that is longer; five "
        "seconds before its end WebSockets are closed with 1001. A gateway that stops does not "
        "wait for it.",
    )
    backoff: Seconds = key(1.0, "Wait after a failed start; doubles with each failure in a row.")
    backoff_max: Seconds = key(60.0, "Longest wait after a failed start.")
