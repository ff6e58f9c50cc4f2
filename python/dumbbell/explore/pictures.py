"""A run as the page shows it: figures over time, states, numbers and the answer in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dumbbell.explore.answer import answer_of
from dumbbell.figures import Figure
from dumbbell.metrics.metric import AT
from dumbbell.plots import group_colors, group_labels
from dumbbell.plots.mode_marks import MODES, modes_of
from dumbbell.plots.quantities import Drawable
from dumbbell.plots.run_figures import drawables
from dumbbell.report.chart import chart
from dumbbell.run import Run

__all__ = ["picture_of", "rows_of"]

#: Points of a line: as many as a wide panel has pixels to tell apart.
POINTS = 400
#: What is shown unless the reader chooses otherwise, of these the first links' queues.
USUAL = ("goodput", "rtt", "queue", "cwnd")
#: Links whose queues are shown at first.
MAX_QUEUES = 2
#: Changes of a group's state that the page can name; more are only in the figure of the state.
MAX_STATES = 2000


def picture_of(
    run: Run, series: Sequence[str] = (), *, end_s: float | None = None, points: int = POINTS
) -> dict[str, Any]:
    """Return what the page shows of a run.

    Parameters
    ----------
    run
        The run.
    series
        Names of the figures to show; empty: the usual ones.
    end_s
        The end of the time axis, if the run is only the beginning.
    points
        Of a line.
    """
    drawn = drawables(run, points)
    known = {each.name: each for each in drawn}
    wanted = [known[name].draw() for name in series if name in known] if series else usual(drawn)
    charts = [chart(figure, zooms=True) for figure in wanted]
    for each in charts:
        if end_s is not None and "x_range" in each:
            each["x_range"] = (0.0, end_s)
    return {
        "figures": charts,
        "known": [[each.name, each.title] for each in drawn],
        "states": states_of(run),
        "rows": rows_of(run),
        "links": links_of(run),
        "verdict": run.verdict.status,
        "reasons": [reason.message for reason in run.verdict.reasons],
        "notes": [each.message for each in run.verdict.notes],
        "answer": answer_of(run),
        "seconds": run.summary["duration_ns"] / 1e9,
    }


def usual(known: Sequence[Drawable]) -> list[Figure]:
    """Draw the figures that are shown at first."""
    found = []
    queues = 0
    for name in USUAL:
        for each in known:
            series, _, link = each.name.partition(AT)
            if series != name:
                continue
            queues += bool(link)
            if queues <= MAX_QUEUES:
                found.append(each.draw())
    modes = (each.draw() for each in known if names_mode(each))
    mode = next((each for each in modes if each.y_names), None)
    return found if mode is None else [*found, mode]


def names_mode(known: Drawable) -> bool:
    """Whether a figure is of an algorithm's mode: ``state-0.mode``."""
    state, _, name = known.name.rpartition(".")
    return state.startswith("state-") and name in MODES


def states_of(run: Run) -> list[dict[str, Any]]:
    """Return when each group's first flow changed its state, for what the pointer is at."""
    found = []
    looks = zip(group_labels(run.scenario), group_colors(run.scenario), strict=True)
    for group, (label, color) in enumerate(looks):
        modes = modes_of(run, group)
        if 0 < len(modes) <= MAX_STATES:
            times, names = zip(*modes, strict=True)
            short = [round(time_s, 3) for time_s in times]
            found.append({"label": label, "color": color, "times": short, "names": names})
    return found


def rows_of(run: Run) -> list[dict[str, Any]]:
    """Return the numbers of each group, with its name and colour."""
    looks = zip(group_labels(run.scenario), group_colors(run.scenario), strict=True)
    rows = []
    for group, (label, color) in zip(run.groups, looks, strict=True):
        sent = group["sent_pkts"]
        rows.append(
            {
                "label": label,
                "color": color,
                "flows": group["flows"],
                "goodput_mbps": group["goodput_bps"] / 1e6,
                "per_flow_mbps": group["goodput_per_flow_bps"] / 1e6,
                "share_pct": None if group["share"] is None else 100 * group["share"],
                "rtt_ms": group["rtt_mean_us"] / 1e3 or None,
                "retransmitted_pct": 100 * group["retransmitted_pkts"] / sent if sent else None,
            }
        )
    return rows


def links_of(run: Run) -> list[dict[str, Any]]:
    """Return the numbers of each link."""
    return [
        {
            "label": link["name"],
            "used_pct": 100 * link["utilization"],
            "delay_mean_ms": link["queue_delay_mean_us"] / 1e3,
            "delay_p95_ms": link["queue_delay_p95_us"] / 1e3,
            "dropped_pct": 100 * link["dropped_pkts"] / link["offered_pkts"]
            if link["offered_pkts"]
            else None,
        }
        for link in run.links
    ]
