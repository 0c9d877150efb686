"""`steelyard lab scaling`: autoscaling policies on recorded or invented traffic."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.common import JsonOption
from steelyard.cli.lab_common import Lab, OutOption, PageOption, SeedOption, load


class FleetKind(StrEnum):
    AUTO = "auto"
    WHOLE = "whole"
    OUTLINE = "outline"


WHOLE = {FleetKind.AUTO: None, FleetKind.WHOLE: True, FleetKind.OUTLINE: False}


def lab_scaling(
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Traffic: CSV of `time,requests`, or an access log (combined or JSON); by default "
            "five shapes.",
        ),
    ] = None,
    peak: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            help="Scale the traffic so that its busiest interval keeps this many workers busy; by "
            "default 40 for a trace, 12 for shapes.",
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(min=1e-6, help="Or multiply the traffic by this; 1: unchanged."),
    ] = None,
    low: Annotated[int, typer.Option("--min", help="Fewest workers.")] = 2,
    high: Annotated[int, typer.Option("--max", help="Most workers.")] = 200,
    boot: Annotated[float, typer.Option(min=0, help="Seconds until a new worker serves.")] = 15.0,
    service: Annotated[
        float, typer.Option(min=0.001, help="Mean seconds of work per request.")
    ] = 0.2,
    slo: Annotated[
        float, typer.Option(min=0.001, help="Seconds; a later answer counts as late.")
    ] = 1.0,
    hpa: Annotated[float, typer.Option(min=1, max=100, help="HPA's target, percent.")] = 60.0,
    fleet: Annotated[
        FleetKind, typer.Option(help="auto: the whole fleet for up to four hours of traffic.")
    ] = FleetKind.AUTO,
    bars: Annotated[
        bool, typer.Option("--bars", help="Fail unless a policy of ours beats HPA and step.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="Runs, each with its own seed; default 3 for shapes, 1 for a trace.",
        ),
    ] = None,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Compare scaling policies on traffic: requests failed or late, and workers paid for."""
    lab = Lab("scaling", json, out, page)
    site = load("site").Site(min=low, max=high, boot=boot, service=service, slo=slo)
    lab.run(
        lab.module.Scaling(
            trace=trace, peak=peak, scale=scale, site=site, hpa=hpa, whole=WHOLE[fleet], bars=bars,
            runs=runs, seed=seed,
        )
    )  # fmt: skip
