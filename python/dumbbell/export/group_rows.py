"""The rows of `groups.csv`: a group's metrics, and of programs what each way had."""

from __future__ import annotations

from typing import Any

from dumbbell.run import Run
from dumbbell.run.connections import connections_of
from dumbbell.run.directions import ways_of
from dumbbell.scenario.routes import links_back_of, links_of

__all__ = ["group_rows"]

#: The ways, and what is known of each.
WAYS = ("server_to_client", "client_to_server")
OF_WAY = ("goodput_bps", "share")


def group_rows(run: Run) -> list[dict[str, Any]]:
    """Return a row for each group; all have the same columns.

    Of a run of programs `goodput_bps` and `share` are of both ways together; columns that begin
    with ``server_to_client_`` and ``client_to_server_`` have each. `protocols` has what the group's
    connections spoke, and without TCP among it there is no `cc` and no `build`.
    """
    scenario = run.scenario
    rows: list[dict[str, Any]] = [
        {**row, "name": scenario.group_labels[row["group"]]} for row in run.groups
    ]
    programs = next((group for group in scenario.groups if group.client is not None), None)
    if programs is not None:
        for row in rows:
            row |= dict.fromkeys(f"{way}_{of}" for way in WAYS for of in OF_WAY)
        names_of = {
            tuple(link.name for link in links(programs, scenario)): name
            for links, name in zip((links_of, links_back_of), WAYS, strict=True)
        }
        for way in ways_of(run):
            if name := names_of.get(way.links):
                for got in way.groups:
                    rows[got.group] |= {f"{name}_{of}": getattr(got, of) for of in OF_WAY}
        for row in rows:
            spoken = protocols_of(run, row["group"])
            row |= {"protocols": "+".join(spoken)}
            if spoken and "tcp" not in spoken:
                row |= {"cc": None, "build": None}
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def protocols_of(run: Run, group: int) -> list[str]:
    """Return the protocols of a group's connections; those without ports say nothing of it."""
    table = connections_of(run)
    rows = [] if table is None else table.select(["group", "protocol"]).to_pylist()
    return sorted(
        {row["protocol"] for row in rows if row["group"] == group and row["protocol"] != "other"}
    )
