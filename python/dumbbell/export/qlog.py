"""A run's flows as qlog: what qvis and other tools of QUIC's read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dumbbell.base.errors import ResultError
from dumbbell.base.writing import write_file
from dumbbell.run import Run
from dumbbell.scenario.group_labels import group_labels

__all__ = ["export_qlog", "qlog_of"]

#: draft-ietf-quic-qlog-main-schema-02 and quic-events-02: the newest that qvis opens.
VERSION = "0.3"
#: Of a sample: its column, and the field of `recovery:metrics_updated`. Times are in ms.
TIMES = (("min_rtt_us", "min_rtt"), ("srtt_us", "smoothed_rtt"), ("rtt_us", "latest_rtt"))
WINDOWS = (
    ("cwnd_pkts", "congestion_window"), ("inflight_pkts", "bytes_in_flight"),
    ("ssthresh_pkts", "ssthresh"),
)  # fmt: skip


def export_qlog(directory: str | Path, out: str | Path | None = None) -> Path:
    """Write the flows of a run as `run.qlog`, a trace each.

    Parameters
    ----------
    directory
        What `run` or `emulate` wrote with ``--out``.
    out
        Directory of the file, created if it does not exist; by default ``qlog`` in `directory`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ResultError
        It is no run, has no time series, or the file cannot be written.
    """
    directory = Path(directory)
    place = Path(out) if out is not None else directory / "qlog"
    if (directory / "sweep.json").is_file():
        raise ResultError(
            f"{directory}: a qlog is of one run; use a directory in {directory / 'runs'}"
        )
    text = json.dumps(qlog_of(Run.load(directory)), separators=(",", ":"))
    return write_file(place / "run.qlog", text + "\n")


def qlog_of(run: Run) -> dict[str, Any]:
    """Return the flows of a run as a qlog document: a trace each, with recovery events.

    The events are those of the samples: `metrics_updated` has what changed, and
    `congestion_state_updated` the state of Linux's loss recovery. There are no packets.
    """
    by_flow: dict[int, list[dict[str, Any]]] = {}
    for row in run.flows.to_pylist():
        by_flow.setdefault(row["flow"], []).append(row)
    labels = group_labels(run.scenario)
    traces = []
    for flow in run.summary["flows"]:
        group = flow["group"]
        mss = int(run.scenario.groups[group].mss)
        name = f"{labels[group]}, flow {flow['flow']}"
        traces.append(
            {
                "vantage_point": {"name": name, "type": "server"},
                "title": name,
                "description": f"{flow['cc']}, base RTT {flow['base_rtt_us'] / 1000:g} ms",
                "common_fields": {
                    "time_format": "relative", "reference_time": 0, "protocol_type": ["TCP"],
                    "group_id": f"flow-{flow['flow']}",
                },
                "events": list(events_of(by_flow.get(flow["flow"], []), mss)),
            }
        )  # fmt: skip
    return {
        "qlog_version": VERSION,
        "qlog_format": "JSON",
        "title": run.scenario.name or " + ".join(labels),
        "description": f"dumbbell {run.summary['engine_version']}, {run.engine}",
        "traces": [trace for trace in traces if trace["events"]],
    }


def events_of(rows: list[dict[str, Any]], mss: int) -> Iterator[dict[str, Any]]:
    """Return the events of a flow's samples, in the order of time."""
    before: dict[str, float] = {}
    state = ""
    for row in rows:
        time_ms = row["time_us"] / 1000
        if row["ca_state"] not in (state, None) and row["cwnd_pkts"] is not None:
            data = {"old": state, "new": row["ca_state"]} if state else {"new": row["ca_state"]}
            state = row["ca_state"]
            yield {"time": time_ms, "name": "recovery:congestion_state_updated", "data": data}
        found = {
            **{name: row[column] / 1000 for column, name in TIMES if row[column]},
            **{name: row[column] * mss for column, name in WINDOWS if row[column] is not None},
        }
        if row["inflight_pkts"] is not None:
            found["packets_in_flight"] = row["inflight_pkts"]
        if row["pacing_rate_bps"]:
            found["pacing_rate"] = row["pacing_rate_bps"]
        changed = {name: value for name, value in found.items() if before.get(name) != value}
        if changed:
            before |= changed
            yield {"time": time_ms, "name": "recovery:metrics_updated", "data": changed}
