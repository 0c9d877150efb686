"""How the score of a worker is calculated, and how many workers there are."""

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
    """How the score of a worker, 0…100, is calculated (docs/architecture.md has the formulas)."""

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
        None,
        "Capacity of the network in MB/s; none: the growth of the rate counts in place of its "
        "share of the capacity.",
        gt=0,
    )
    history: Count = key(20, "How many recent response times are averaged.")
    best: Count = key(10, "How many of the best response times are averaged.")
    best_age: Seconds = key(300.0, "A best response time is forgotten after this time.", gt=0)
    smoothing: float = key(
        0.2, "Weight of the newest value in the smoothed availability.", gt=0, le=1
    )


class States(Section):
    """The utilization at which a worker's state changes."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("low < high", ("low", "high"), lambda it: it.low < it.high),
        # Otherwise a worker that was busy once could never get back to LU.
        Rule("hysteresis < low", ("hysteresis", "low"), lambda it: it.hysteresis < it.low),
    )

    low: Percent = key(30.0, "Utilization below this is low (LU).")
    high: Percent = key(60.0, "Utilization from this on is high (HU).")
    hysteresis: Percent = key(
        5.0, "How far utilization must fall below `low` or `high` for the state to change back."
    )


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
            # A wait of 0 means that there are enough workers, not that fewer would be enough.
            "a value for target_utilization or target_in_flight, or both",
            ("target_utilization", "target_in_flight"),
            lambda it: (it.target_utilization, it.target_in_flight) != (None, None),
        ),
    )

    policy: Literal["step", "target", "predictive", "fixed"] = key(
        "step",
        "The scaling policy: `step` adds and retires workers in steps, by `low` and `high`; "
        "`target` has as many workers as needed for each to carry its `target_…`; `predictive` "
        "does the same, and adds workers for the load expected when they have booted; `fixed` "
        "keeps the number of workers.",
    )
    min: Count = key(4, "Fewest workers; the first `min` workers are never retired.", flag="--min")
    max: Count = key(8, "Most workers.", flag="--max")
    low: Percent = key(20.0, "`step` retires workers while mean utilization is below this.")
    high: Percent = key(60.0, "`step` adds workers while mean utilization is at least this.")
    critical: Percent = key(
        80.0, "`step` adds workers while the utilization of any worker is at least this."
    )
    up: Count = key(1, "How many workers `step` adds at once.")
    down: Count = key(1, "How many workers `step` retires at once.")
    cooldown: Seconds = key(5.0, "Time after a change in which `step` makes no other.")
    dwell_up: Seconds = key(4.0, "How long the load must be high before `step` adds workers.")
    dwell_down: Seconds = key(30.0, "How long the load must be low before `step` retires workers.")
    target_utilization: Annotated[float, Field(gt=0, le=100)] | None = key(
        80.0, "Mean utilization that `target` aims at; none: utilization does not count."
    )
    spare: Annotated[float, Field(ge=0)] = key(
        1.5,
        "`target` has at least this number times the square root of the busy workers as spare "
        "workers. Requests arrive at random, so a small fleet needs a larger share of spare "
        "workers than a large one. 0: only `target_utilization` counts.",
    )
    target_in_flight: Annotated[float, Field(gt=0)] | None = key(
        None,
        "Open requests per worker that `target` aims at, including requests that wait for a "
        "worker. Of several targets the one that needs the most workers counts.",
    )
    target_wait: Seconds | None = key(
        None,
        "`target` adds workers if a request waits for a worker in the gateway for longer than "
        "this.",
        gt=0,
    )
    tolerance: Percent = key(
        10.0, "`target` changes nothing if the need differs by at most so many percent."
    )
    window: Seconds = key(30.0, "`target` uses the mean need over this time.", gt=0)
    stabilization: Seconds = key(
        120.0,
        "`target` retires workers only down to the most that it wanted within this time.",
    )
    panic_window: Seconds = key(
        6.0, "Shorter time over which `target` looks for a panic: a sudden need.", gt=0
    )
    panic: Annotated[float, Field(ge=100)] = key(
        150.0,
        "A need of at least so many percent of the workers that serve is a panic: it is met at "
        "once, and no worker is retired until a `window` has passed without one.",
    )
    history: Seconds = key(
        120.0, "Time in the past through which `predictive` draws its line.", gt=0
    )
    drain: Seconds = key(
        30.0, "A retired worker is stopped after this time even if it has open exchanges."
    )
    tunnel_drain: Seconds = key(
        3600.0,
        "A retired worker with open tunnels (WebSocket) is stopped after this time, if it is "
        "longer than `drain`; WebSockets are closed with 1001 five seconds before its end. A "
        "gateway that stops does not wait for it.",
    )
    backoff: Seconds = key(
        1.0, "Pause after a failed start; it doubles with each failure in a row."
    )
    backoff_max: Seconds = key(60.0, "Longest pause after a failed start.")
