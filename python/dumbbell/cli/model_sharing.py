"""`dumbbell model sharing`: reference allocations of a scenario's links, or of parking lots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import expand_counts
from dumbbell.models.allocations import ALLOCATIONS, Demand, allocations_of
from dumbbell.scenario import Scenario
from dumbbell.terminal import options
from dumbbell.terminal.console import print_json
from dumbbell.terminal.table import print_table

__all__ = ["sharing_command"]

#: Links of a parking lot and flows over each that the rules are worth computing for.
MAX_LINKS = 100
MAX_CROSS = 1_000_000


def sharing_command(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            help="A scenario file. Without it, parking lots: a flow over all links, and others "
            "over one each.",
            show_default=False,
        ),
    ] = None,
    links: Annotated[
        str, typer.Option("--links", help="Links of a parking lot: `1,2,3`, `1..16`.")
    ] = "1,2,3,5,10",
    cross: Annotated[
        int,
        typer.Option("--cross", help="Flows over each of its links alone.", min=1, max=MAX_CROSS),
    ] = 1,
    json: options.Json = False,
) -> int:
    """Max-min, minimum potential delay and proportional fairness over several links."""
    if scenario is not None:
        return answer_scenario(Scenario.from_toml(scenario), json=json)
    rows = [lot(count, cross) for count in expand_counts(links, "links")]
    if json:
        print_json({"model": "sharing", "points": rows})
        return 0
    print_table(
        ("links", *(f"{allocation.title}\n%" for allocation in ALLOCATIONS)),
        [
            (str(row["links"]), *(f"{100 * row[each.name]:.1f}" for each in ALLOCATIONS))
            for row in rows
        ],
        title="the long flow's share of each link",
    )
    return 0


def lot(links: int, cross: int) -> dict[str, Any]:
    """Return the long flow's share in a parking lot by each rule."""
    if links > MAX_LINKS:
        raise ScenarioError(f"links `{links}`: use at most {MAX_LINKS}", key="links")
    names = [f"link{index}" for index in range(links)]
    demands = [Demand(tuple(names)), *(Demand((name,), cross) for name in names)]
    capacities = dict.fromkeys(names, 1)
    shares = {each.name: float(each.rates(capacities, demands)[0]) for each in ALLOCATIONS}
    return {"links": links, "cross": cross, **shares}


def answer_scenario(scenario: Scenario, *, json: bool) -> int:
    """Print what each flow of a scenario's groups gets by each rule."""
    rates_bps = allocations_of(scenario)
    named = list(zip(scenario.groups, scenario.group_labels, strict=True))
    if json:
        points = [
            {
                "group": index,
                "name": label,
                "cc": str(group.cc),
                "flows": group.flows,
                **{f"{name}_bps": rates[index] for name, rates in rates_bps.items()},
            }
            for index, (group, label) in enumerate(named)
        ]
        print_json({"model": "sharing", "points": points})
        return 0
    print_table(
        ("group", "flows", *(f"{each.title}\nMbit/s per flow" for each in ALLOCATIONS)),
        [
            (
                label,
                str(group.flows),
                *(f"{rates_bps[each.name][index] / 1e6:.2f}" for each in ALLOCATIONS),
            )
            for index, (group, label) in enumerate(named)
        ],
        title="what crosses the links, headers included",
    )
    return 0
