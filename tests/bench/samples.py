"""Reports as a run would make them, with figures that are easy to calculate."""

from __future__ import annotations

from steelyard.bench.balancer.report import Absence, Report, Sample, Setting
from steelyard.bench.balancer.result import Result, conclude


def sample(contender: str, number: int, cpu_us: float, case: str = "64k", **other) -> Sample:
    """The sample of a round with 1,000 requests; a fifth of the CPU time is user time."""
    values = {
        "requests": 1000,
        "seconds": 2.0,
        "cpu_user": cpu_us * 200e-6,
        "cpu_system": cpu_us * 800e-6,
        "p50_us": 1500.0,
        "p99_us": 9000.0,
        "errors": 0,
        "memory": 8_000_000,
        "foreign": 0.0,
    }
    return Sample(contender=contender, case=case, round=number, **{**values, **other})


def report(*samples: Sample, absences: tuple[Absence, ...] = ()) -> Result:
    """The result of a run with these samples."""
    setting = Setting(
        date="2026-01-01 12:00 UTC",
        machine="a machine",
        command="steelyard bench balancer",
        rounds=3,
        seconds=2,
        connections=64,
        load=(0.5, 1.5),
        versions={"nginx": "1.2"},
    )
    notes = ["the machine was noisy"]
    told = Report(setting=setting, notes=notes, absences=list(absences), samples=list(samples))
    return conclude(told)
