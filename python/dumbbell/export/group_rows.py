"""The rows of `groups.csv`: a group's metrics, and of programs what each way had."""

from __future__ import annotations

from typing import Any

from dumbbell.run import Run
from dumbbell.run.connections import connections_of
from dumbbell.run.directions import WAYS, program_ways

__all__ = ["group_rows"]

#: What is known of each way.
OF_WAY = ("goodput_bps", "share")
#: What is known of our own flows alone.
OF_OWN_FLOWS = ("inflight_mean_pkts", "outstanding_mean_pkts")


def group_rows(run: Run) -> list[dict[str, Any]]:
    """Return a row for each group; all have the same columns.

    Of a run of programs rates and counts are of both ways together, and there is no `share` if data
    went both ways; columns that begin with ``server_to_client_`` and ``client_to_server_`` have
    each. `protocols` has what the group's connections spoke, and without TCP among it there is no
    `cc` and no `build`. What nothing measured has no value.
    """
    scenario = run.scenario
    rows: list[dict[str, Any]] = [
        {**row, "name": scenario.group_labels[row["group"]]} for row in run.groups
    ]
    for row in rows:
        if not row["rtt_mean_us"]:
            row["rtt_mean_us"] = None
        if scenario.groups[row["group"]].client is not None:
            row |= dict.fromkeys(OF_OWN_FLOWS)
    if any(group.client is not None for group in scenario.groups):
        for row in rows:
            row |= dict.fromkeys(f"{way}_{of}" for way in WAYS for of in OF_WAY)
        for name, way in program_ways(run).items():
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
